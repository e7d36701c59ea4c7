import { RostrumError } from '../../domain/errors.ts';
import { limits } from './limits.ts';

interface Waiting {
  readonly amount: number;
  start(): void;
}

/** Lets work run while it takes at most so much of something together; the rest waits in order. */
export class Semaphore {
  readonly #capacity: number;
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#free = capacity;
  }

  /**
   * @param amount what the work takes; more than the capacity counts as all of it
   * @throws RostrumError `overloaded` when the work could not start in time
   */
  async use<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(amount, this.#capacity);
    if (this.#waiting.size > 0 || taken > this.#free) await this.#wait(taken);
    else this.#free -= taken;
    try {
      return await work();
    } finally {
      this.#free += taken;
      this.#startNext();
    }
  }

  #wait(amount: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(waiting);
        this.#startNext();
        reject(new RostrumError('overloaded', {}));
      }, limits.memoryMs);
      const start = () => {
        clearTimeout(late);
        resolve();
      };
      const waiting = { amount, start };
      this.#waiting.add(waiting);
    });
  }

  #startNext(): void {
    for (const waiting of this.#waiting) {
      if (waiting.amount > this.#free) return;
      this.#free -= waiting.amount;
      this.#waiting.delete(waiting);
      waiting.start();
    }
  }
}
