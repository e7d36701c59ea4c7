import { setImmediate as nextTurn } from 'node:timers/promises';
import { RostrumError } from '../../../domain/errors.ts';

/** Bytes of BSON. To parse a larger document takes more than a millisecond. */
export const largeBytes = 64 * 1024;

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

/** How many turns of the event loop are left to others for each mebibyte that is parsed. */
const turns = 32;

/** Parses a document; a large one through a gate, and with turns for all else before it. */
export async function parseInTurn<T>(gate: Gate, bson: Uint8Array, parse: () => T): Promise<T> {
  if (bson.length <= largeBytes) return parse();
  return gate.run(async () => {
    for (let left = (bson.length / 1024 / 1024) * turns; left > 0; left--) await nextTurn();
    return parse();
  });
}
