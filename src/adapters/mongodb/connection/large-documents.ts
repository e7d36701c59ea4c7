import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes. To parse a larger document takes more than a millisecond. */
const large = 64 * 1024;

/** How many bytes of such documents may wait to be parsed before no more is asked for. */
const mostWaiting = 24 * 1024 * 1024;

/** How many turns of the event loop are left to others for each of so many bytes. */
const [turns, bytesOfTurns] = [32, 1024 * 1024];

/**
 * Lets work on large documents be done one piece after another, with turns for all else in between. A
 * megabyte of JSON may be four of BSON, take 300 ms to be parsed and twenty times its size then.
 */
export class LargeDocuments {
  #last = Promise.resolve();
  #waiting = 0;

  /** Fulfilled when work on so many bytes may be done: that is before the next turn of the event loop. */
  async wait(bytes: number): Promise<void> {
    if (bytes <= large) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    this.#waiting += bytes;
    await before;
    this.#waiting -= bytes;
    void leaveTurns(Math.ceil(bytes / bytesOfTurns) * turns).then(resolve);
  }

  /** What to wait for before more is asked for; undefined when there is no need to. */
  get room(): Promise<void> | undefined {
    return this.#waiting > mostWaiting ? this.#last : undefined;
  }
}

async function leaveTurns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await nextTurn();
}
