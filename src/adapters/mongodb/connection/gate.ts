import { RostrumError } from '../../../domain/errors.ts';

/** For how long, in milliseconds, work waits at a gate. */
const waitMs = 5000;

/** Lets some work at a time be under way; the rest waits in line. */
export class Gate {
  readonly #line = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Does work when there is a place, and gives it back when the work ends.
   *
   * @throws RostrumError `overloaded`
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait();
    try {
      return await work();
    } finally {
      const [next] = this.#line;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        this.#line.delete(enter);
        reject(new RostrumError('overloaded', {}));
      }, waitMs);
      const enter = () => {
        this.#line.delete(enter);
        clearTimeout(late);
        resolve();
      };
      this.#line.add(enter);
    });
  }
}
