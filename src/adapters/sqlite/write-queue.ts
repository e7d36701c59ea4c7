import { overloaded, storeUnavailable } from '../../domain/errors.ts';
import type { Connection } from './connection.ts';
import { isDriverError, resultCode, translated } from './driver-error.ts';
import { commitGroup, type Write } from './write-group.ts';

/** What may wait, and what may share a commit. */
export interface WriteLimits {
  /** Writes in one commit. */
  readonly groupWrites: number;
  /** Units of text in one commit, about; a write that is larger by itself has one of its own. */
  readonly groupText: number;
  /** For how long writes are taken into one commit; others are served before the next. */
  readonly groupMs: number;
  /** Writes that wait; one more is `overloaded`. */
  readonly queuedWrites: number;
  /** Units of text of new records that wait. */
  readonly queuedText: number;
  /** For how long a write waits for somebody else's lock (a writing sqlite3 shell). */
  readonly busyMs: number;
}

export const defaultWriteLimits: WriteLimits = {
  groupWrites: 500,
  groupText: 4 * 1024 * 1024,
  groupMs: 50,
  queuedWrites: 10_000,
  queuedText: 64 * 1024 * 1024,
  busyMs: 5000,
};

/** What a change of a record holds on to, as a rule, until it is made. */
const guessedText = 16 * 1024;

/** How long to wait before a lock that was held is tried again. */
const retryMs = 25;

interface QueuedWrite extends Write {
  readonly text: number;
  readonly since: number;
}

/**
 * Lets writes that come in together share a commit: those that wait at a turn of the event loop
 * are one group, and none is acknowledged before the group's COMMIT.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #limits: WriteLimits;
  readonly #failed: (error: unknown, writes: number) => void;
  #waiting: QueuedWrite[] = [];
  #text = 0;
  #scheduled = false;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(
    connection: Connection,
    limits: WriteLimits,
    /** Told of a group that could not be committed. */
    failed: (error: unknown, writes: number) => void = () => {},
  ) {
    this.#connection = connection;
    this.#limits = limits;
    this.#failed = failed;
  }

  /**
   * Runs a write in a transaction; fulfilled with what it returns when that is committed. What it
   * throws undoes this write alone.
   *
   * @param text the units of text that wait with it; a guess for who does not know
   */
  add<T>(run: () => T, text = guessedText): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(storeUnavailable('none'));
    const { queuedWrites, queuedText } = this.#limits;
    const isFull = this.#waiting.length >= queuedWrites || this.#text + text > queuedText;
    // One that is larger than the whole queue may be has to get in at some time: when it is empty.
    if (isFull && this.#waiting.length > 0) return Promise.reject(overloaded());
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, resolve: (value) => resolve(value as T), reject, text, since });
      this.#text += text;
      this.#schedule();
    });
  }

  /** Takes no more writes; fulfilled when those that wait have come to their end. */
  close(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    if (this.#waiting.length === 0) this.#closing.resolve();
    return this.#closing.promise;
  }

  #schedule(delayMs = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the events of this turn: what they bring shares the commit.
    if (delayMs === 0) setImmediate(() => this.#turn());
    else setTimeout(() => this.#turn(), delayMs);
  }

  #turn(): void {
    this.#scheduled = false;
    const isBusy = !this.#commitOne();
    if (this.#waiting.length > 0) this.#schedule(isBusy ? retryMs : 0);
    else this.#closing?.resolve();
  }

  /** Commits one group. Returns false when somebody else holds the lock. */
  #commitOne(): boolean {
    try {
      this.#connection.run('BEGIN IMMEDIATE');
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      if (isBusy) this.#giveUpOn(error);
      else this.#refuseGroup(error);
      return !isBusy;
    }
    const failure = commitGroup(this.#connection, () => this.#next(), this.#limits);
    if (failure !== undefined) this.#failed(failure.error, failure.writes);
    return true;
  }

  /** Rejects those that have waited for the lock as long as a write may. */
  #giveUpOn(error: unknown): void {
    const oldest = performance.now() - this.#limits.busyMs;
    this.#reject(error, (write) => write.since <= oldest);
  }

  #refuseGroup(error: unknown): void {
    // Should a transaction be open against all odds, the next group must not find it.
    this.#connection.rollBack();
    let left = this.#limits.groupWrites;
    this.#reject(error, () => left-- > 0);
  }

  /** Rejects writes from the front for as long as the condition holds. */
  #reject(error: unknown, condition: (write: QueuedWrite) => boolean): void {
    let count = 0;
    while (this.#waiting[0] !== undefined && condition(this.#waiting[0])) {
      this.#next()?.reject(translated(error, 'none'));
      count += 1;
    }
    if (count > 0) this.#failed(error, count);
  }

  #next(): Write | undefined {
    const write = this.#waiting.shift();
    if (write !== undefined) this.#text -= write.text;
    return write;
  }
}
