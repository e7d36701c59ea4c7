import { RostrumError } from '../../domain/errors.ts';
import { limits } from './limits.ts';

/** Lets work run while all of it together takes at most so much of something; the rest waits in order. */
export class Semaphore {
  readonly #capacity: number;
  readonly #waiting = new Set<() => boolean>();
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * @param amount what the work takes; more than the capacity counts as all of it
   * @throws RostrumError `overloaded` when the work could not start in time
   */
  async use<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const share = Math.min(amount, this.#capacity);
    if (this.#waiting.size > 0 || this.#taken + share > this.#capacity) await this.#wait(share);
    else this.#taken += share;
    try {
      return await work();
    } finally {
      this.#taken -= share;
      this.#startNext();
    }
  }

  #wait(share: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(start);
        this.#startNext();
        reject(new RostrumError('overloaded', {}));
      }, limits.memoryMs);
      const start = () => {
        if (this.#taken + share > this.#capacity) return false;
        this.#taken += share;
        clearTimeout(late);
        resolve();
        return true;
      };
      this.#waiting.add(start);
    });
  }

  #startNext(): void {
    for (const start of this.#waiting) {
      if (!start()) return;
      this.#waiting.delete(start);
    }
  }
}
