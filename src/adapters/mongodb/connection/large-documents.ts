import { setImmediate as nextTurn } from 'node:timers/promises';
import { RostrumError } from '../../../domain/errors.ts';

/** Bytes. To parse a larger document takes more than a millisecond. */
const large = 64 * 1024;

/** How many bytes of such documents may be here, and not parsed, before no more is asked for. */
const mostHeld = 24 * 1024 * 1024;

/** For how long, in milliseconds, one waits to be parsed. */
const waitMs = 5000;

/** How many turns of the event loop are left to others for each of so many bytes. */
const [turns, bytesOfTurns] = [32, 1024 * 1024];

/**
 * Lets large documents be parsed one after another, with turns for all else in between. A megabyte of
 * JSON may be four of BSON, take 300 ms to be parsed and made text of, and twenty times its size then.
 */
export class LargeDocuments {
  /** Begins each that waits. */
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;
  #held = 0;
  #change = Promise.withResolvers<void>();

  /**
   * Counts what has come, while `parse` works on it.
   *
   * @param parse is told how many bytes the large ones have
   */
  async hold<T>(
    documents: readonly Uint8Array[],
    parse: (bytes: number) => Promise<T>,
  ): Promise<T> {
    const bytes = documents.reduce((sum, { length }) => sum + (length > large ? length : 0), 0);
    if (bytes === 0) return parse(bytes);
    this.#held += bytes;
    try {
      return await parse(bytes);
    } finally {
      this.#held -= bytes;
      this.#change.resolve();
      this.#change = Promise.withResolvers();
    }
  }

  /**
   * Waits until no more is held than may be.
   *
   * @throws RostrumError `overloaded`
   */
  async room(): Promise<void> {
    const end = performance.now() + waitMs;
    while (this.#held > mostHeld) {
      await this.#change.promise;
      if (performance.now() > end) throw new RostrumError('overloaded', {});
    }
  }

  /**
   * Fulfilled when so many bytes may be parsed: that is before the next turn of the event loop.
   *
   * @throws RostrumError `overloaded`
   */
  async turn(bytes: number): Promise<void> {
    if (bytes <= large) return;
    if (this.#isBusy) {
      const { promise, resolve: begin, reject } = Promise.withResolvers<void>();
      this.#waiting.push(begin);
      const late = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(new RostrumError('overloaded', {}));
      }, waitMs);
      await promise.finally(() => clearTimeout(late));
    } else {
      this.#isBusy = true;
    }
    void this.#leaveTurns(Math.ceil(bytes / bytesOfTurns) * turns);
  }

  async #leaveTurns(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await nextTurn();
    const next = this.#waiting.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  }
}
