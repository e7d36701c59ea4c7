import { type Outcome, RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { WriteLimits } from '../options.ts';
import type { Connection } from './connection.ts';
import { isDriverError, resultCode, translated } from './errors.ts';

/** How long to wait before a lock that was held is tried again. */
const retryMs = 25;

/** For how long a group waits for more writes, while each turn of the event loop brings some. */
const gatherMs = 5;

interface QueuedWrite {
  /** Reads and changes in the transaction that is open. It throws when it has changed nothing. */
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly since: number;
}

/**
 * Lets writes that come in together share a commit.
 *
 * No write is settled before the group's COMMIT. That holds for a refusal too, as its reason may be
 * another write of the group, which in the end is not made.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #limits: WriteLimits;
  readonly #onFailure: (error: unknown, writes: number) => void;
  readonly #waiting: QueuedWrite[] = [];
  #isScheduled = false;
  /** How many writes waited at the last turn of the event loop. */
  #gathered = 0;
  #closing: PromiseWithResolvers<void> | undefined;
  /** What the first write met that found no space on the disk, until {@link foundSpace}. */
  #full: unknown;

  /** @param onFailure told of writes that failed with their whole group, and once of a full disk */
  constructor(
    connection: Connection,
    limits: WriteLimits,
    onFailure: (error: unknown, writes: number) => void,
  ) {
    this.#connection = connection;
    this.#limits = limits;
    this.#onFailure = onFailure;
  }

  /**
   * Runs a write in a transaction; fulfilled with what it returns when that is committed.
   *
   * A write that throws has to have changed nothing, or to have ended the transaction. SQLite undoes
   * a statement that breaks a constraint, and ends the transaction where a full disk leaves it no other
   * way; {@link Connection} has two ways to make several statements one step.
   */
  add<T>(run: () => T): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(storeUnavailable('none'));
    if (this.#waiting.length >= this.#limits.queuedWrites) {
      return Promise.reject(new RostrumError('overloaded', {}));
    }
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, resolve: (value) => resolve(value as T), reject, since });
      this.#schedule();
    });
  }

  /** Whether a write found no space on the disk, and none was seen since. */
  get isFull(): boolean {
    return this.#full !== undefined;
  }

  /** There is space again, and not only for small writes: the next full disk is another one. */
  foundSpace(): void {
    this.#full = undefined;
  }

  /** Takes no more writes; fulfilled when those that wait have come to their end. */
  close(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    if (this.#waiting.length === 0) this.#closing.resolve();
    return this.#closing.promise;
  }

  #schedule(delayMs = 0): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After the events of this turn: what they bring shares the commit.
    if (delayMs === 0) setImmediate(() => this.#turn());
    else setTimeout(() => this.#turn(), delayMs);
  }

  #turn(): void {
    this.#isScheduled = false;
    const isBusy = !this.#isGrowing() && !this.#begin();
    if (this.#waiting.length > 0) this.#schedule(isBusy ? retryMs : 0);
    else this.#closing?.resolve();
  }

  #isGrowing(): boolean {
    const { length } = this.#waiting;
    const hasGrown = length > this.#gathered;
    this.#gathered = hasGrown ? length : 0;
    const isFull = length >= this.#limits.groupWrites;
    return hasGrown && !isFull && performance.now() - (this.#waiting[0]?.since ?? 0) < gatherMs;
  }

  /** Commits one group. Returns false when somebody else holds the lock. */
  #begin(): boolean {
    try {
      this.#connection.run('BEGIN IMMEDIATE');
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      // Should a transaction be open against all odds, the next group must not find it.
      if (!isBusy) this.#connection.rollBack();
      const oldest = performance.now() - this.#limits.busyMs;
      const left = this.#waiting.findIndex(({ since }) => since > oldest);
      const count = isBusy ? left : this.#limits.groupWrites;
      this.#reject(this.#waiting.splice(0, count < 0 ? Infinity : count), error, 'none');
      return !isBusy;
    }
    this.#commitGroup();
    return true;
  }

  #commitGroup(): void {
    const group: QueuedWrite[] = [];
    const settle: (() => void)[] = [];
    const { groupWrites, groupMs } = this.#limits;
    const end = performance.now() + groupMs;
    let isCommitting = false;
    try {
      do {
        const write = this.#waiting.shift();
        if (write === undefined) break;
        group.push(write);
        settle.push(this.#run(write));
      } while (group.length < groupWrites && performance.now() < end);
      isCommitting = true;
      this.#connection.run('COMMIT');
    } catch (error) {
      this.#connection.rollBack();
      this.#reject(group, error, isCommitting ? outcomeOfCommit(error) : 'none');
      return;
    }
    for (const one of settle) one();
  }

  /** @throws when the whole transaction is lost, as it may be by a write that ran out of disk */
  #run(write: QueuedWrite): () => void {
    try {
      const value = write.run();
      return () => write.resolve(value);
    } catch (error) {
      if (!this.#connection.inTransaction) throw error;
      const isFull = isDriverError(error, resultCode.full);
      const failure = isFull ? this.#failed(error, 1) : error;
      return () => write.reject(translated(failure, 'none'));
    }
  }

  #reject(writes: readonly QueuedWrite[], error: unknown, outcome: Outcome): void {
    if (writes.length === 0) return;
    const failure = this.#failed(error, writes.length);
    for (const write of writes) write.reject(translated(failure, outcome));
  }

  /** A full disk is one failure, however many writes meet it. */
  #failed(error: unknown, writes: number): unknown {
    if (isDriverError(error, resultCode.full)) {
      if (this.#full !== undefined) return this.#full;
      this.#full = error;
    }
    this.#onFailure(error, writes);
    return error;
  }
}

/**
 * A COMMIT that met a lock or a full disk was not made. After any other failure (a sync, above
 * all) the log may hold it, and a restart may bring it back.
 */
function outcomeOfCommit(error: unknown): Outcome {
  const isRefused = isDriverError(error, resultCode.busy) || isDriverError(error, resultCode.full);
  return isRefused ? 'none' : 'unknown';
}
