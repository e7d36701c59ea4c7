import { setImmediate as turn } from 'node:timers/promises';
import { storeUnavailable } from '../../../domain/errors.ts';
import type { Connection } from './connection.ts';

/** For how long, in milliseconds, a read holds the event loop at a time. */
const turnMs = 10;

/** A read in steps of few milliseconds, all in the transaction that is open. */
export type Steps<T> = (connection: Connection) => Iterator<undefined, T>;

/**
 * Reads of one moment that may be long.
 *
 * Where the first turn of the event loop is not enough, the read begins again on a connection of its
 * own, whose transaction stays open while others have their turns. Such reads go one after another:
 * with a reader there at all times, the log could never begin at its start again.
 */
export class LongReads {
  readonly #connection: Connection;
  readonly #open: () => Connection;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param open opens the data file once more */
  constructor(connection: Connection, open: () => Connection) {
    this.#connection = connection;
    this.#open = open;
  }

  /** @param signal ends a long read between two turns */
  async run<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
    const first = this.#connection.transaction('DEFERRED', () => oneTurn(steps(this.#connection)));
    if (first.done) return first.value;
    const result = this.#last.then(() => this.#readAside(steps, signal));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Ends the reads that are under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #readAside<T>(steps: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
    let reader: Connection | undefined;
    let reading: Iterator<undefined, T> | undefined;
    try {
      for (;;) {
        await turn();
        signal?.throwIfAborted();
        if (this.#isClosed) throw storeUnavailable('none');
        if (reader === undefined) {
          reader = this.#open();
          reader.run('BEGIN');
        }
        reading ??= steps(reader);
        const { done, value } = oneTurn(reading);
        if (done) return value;
      }
    } finally {
      reader?.close();
    }
  }
}

/** Takes as many steps as a turn has time for. */
function oneTurn<T>(reading: Iterator<undefined, T>): IteratorResult<undefined, T> {
  const end = performance.now() + turnMs;
  for (;;) {
    const step = reading.next();
    if (step.done || performance.now() > end) return step;
  }
}
