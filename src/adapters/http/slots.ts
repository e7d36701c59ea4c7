import { RostrumError } from '../../domain/errors.ts';

/** Lets so many pieces of work be under way at a time; others wait in line, and not for long. */
export class Slots {
  readonly #waitMs: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number, waitMs: number) {
    this.#free = count;
    this.#waitMs = waitMs;
  }

  /** @throws RostrumError `overloaded` when its turn does not come in time */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const take = () => {
      clearTimeout(timer);
      this.#waiting.delete(take);
      resolve();
    };
    const timer = setTimeout(() => {
      this.#waiting.delete(take);
      reject(new RostrumError('overloaded', {}));
    }, this.#waitMs);
    this.#waiting.add(take);
    return promise;
  }
}
