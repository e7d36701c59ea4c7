import { type Outcome, RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { WriteLimits } from '../options.ts';
import type { Connection } from './connection.ts';
import { isDriverError, resultCode, translated } from './errors.ts';

/** How long to wait before a lock that was held is tried again. */
const retryMs = 25;

/** For how long a group waits for more writes, while each turn of the event loop brings some. */
const gatherMs = 5;

/** For how long, in milliseconds, a disk that is still full is not reported again. */
const repeatMs = 10_000;

/**
 * How many turns of the event loop lie between two long writes, at least. A new client needs several
 * of them until its first write is here.
 */
const turnsBetweenLong = 32;

/** What a write returns that has changed nothing yet, because it is a long one. */
export const later = Symbol('later');

/**
 * Reads and changes in the transaction that is open. It throws when it has changed nothing.
 *
 * @param mayTakeLong whether it has to do its work, however long that takes
 * @returns {@link later} to be run again when it may take long
 */
type Write<T> = (mayTakeLong: boolean) => T | typeof later;

interface QueuedWrite {
  readonly run: Write<unknown>;
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
  /** Those that said {@link later}: each is a group of its own, with turns for all else between. */
  readonly #long: QueuedWrite[] = [];
  #isForLong = false;
  /** How many turns passed since the last of these. */
  #sinceLong = turnsBetweenLong;
  #isScheduled = false;
  /** How many writes waited at the last turn of the event loop. */
  #gathered = 0;
  #closing: PromiseWithResolvers<void> | undefined;
  /** When a full disk was last reported (`performance.now()`), until {@link foundSpace}. */
  #reportedFull: number | undefined;

  /** @param onFailure told of writes that failed with their whole group, and of a full disk now and then */
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
   * A write that throws must have changed nothing, or have ended the transaction. SQLite undoes a
   * statement that breaks a constraint; a full disk may end the transaction, and then the other writes
   * run again. {@link Connection} has two ways to make several statements one step.
   */
  add<T>(run: Write<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(storeUnavailable('none'));
    if (this.#length >= this.#limits.queuedWrites) {
      return Promise.reject(new RostrumError('overloaded', {}));
    }
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, resolve: (value) => resolve(value as T), reject, since });
      this.#schedule();
    });
  }

  /** True from the first write that found the disk full until {@link foundSpace}. */
  get isDiskFull(): boolean {
    return this.#reportedFull !== undefined;
  }

  /** Called when a large write has succeeded: the next full disk is reported at once. */
  foundSpace(): void {
    this.#reportedFull = undefined;
  }

  /** Takes no more writes; fulfilled when those that wait have come to their end. */
  close(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    if (this.#length === 0) this.#closing.resolve();
    return this.#closing.promise;
  }

  get #length(): number {
    return this.#waiting.length + this.#long.length;
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
    this.#sinceLong += 1;
    const isGrowing = this.#isGrowing();
    const isReady = this.#isLongDue || (this.#waiting.length > 0 && !isGrowing);
    const isBusy = isReady && !this.#tryGroup();
    if (this.#length > 0) this.#schedule(isBusy ? retryMs : 0);
    else this.#closing?.resolve();
  }

  get #isLongDue(): boolean {
    return this.#long.length > 0 && this.#sinceLong >= turnsBetweenLong;
  }

  #isGrowing(): boolean {
    const { length } = this.#waiting;
    const hasGrown = length > this.#gathered;
    this.#gathered = hasGrown ? length : 0;
    const isGroupFull = length >= this.#limits.groupWrites;
    return (
      hasGrown && !isGroupFull && performance.now() - (this.#waiting[0]?.since ?? 0) < gatherMs
    );
  }

  /** Commits one group. Returns false when somebody else holds the lock. */
  #tryGroup(): boolean {
    try {
      this.#connection.run('BEGIN IMMEDIATE');
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      // Should a transaction be open against all odds, the next group must not find it.
      if (!isBusy) this.#connection.rollBack();
      const { busyMs, groupWrites } = this.#limits;
      const failed = isBusy
        ? [this.#waiting, this.#long].flatMap((writes) => takeOlder(writes, busyMs))
        : [...this.#waiting.splice(0, groupWrites), ...this.#long.splice(0, 1)];
      this.#reject(failed, error, 'none');
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
    this.#isForLong = this.#isLongDue;
    if (this.#isForLong) this.#sinceLong = 0;
    try {
      do {
        const write = this.#isForLong ? this.#long.shift() : this.#waiting.shift();
        if (write === undefined) break;
        group.push(write);
        const settled = this.#run(write);
        if (settled === later) this.#long.push(...group.splice(-1));
        else settle.push(settled);
      } while (!this.#isForLong && group.length < groupWrites && performance.now() < end);
      isCommitting = true;
      this.#connection.run('COMMIT');
    } catch (error) {
      this.#connection.rollBack();
      const isFull = isDriverError(error, resultCode.full);
      // The last one found no space, and ended the transaction. Without it, the others may fit.
      if (isFull && !isCommitting) this.#waiting.unshift(...group.splice(0, group.length - 1));
      this.#reject(group, error, isCommitting ? outcomeOfCommit(error) : 'none');
      return;
    }
    for (const one of settle) one();
  }

  /** @throws when the whole transaction is lost, as it may be by a write that ran out of disk */
  #run(write: QueuedWrite): (() => void) | typeof later {
    try {
      const value = write.run(this.#isForLong);
      return value === later ? later : () => write.resolve(value);
    } catch (error) {
      if (!this.#connection.inTransaction) throw error;
      if (isDriverError(error, resultCode.full)) this.#report(error, 1);
      return () => write.reject(translated(error, 'none'));
    }
  }

  #reject(writes: readonly QueuedWrite[], error: unknown, outcome: Outcome): void {
    if (writes.length === 0) return;
    this.#report(error, writes.length);
    for (const write of writes) write.reject(translated(error, outcome));
  }

  /** A full disk is one failure, however many writes meet it. */
  #report(error: unknown, writes: number): void {
    if (isDriverError(error, resultCode.full)) {
      const now = performance.now();
      if (this.#reportedFull !== undefined && now - this.#reportedFull < repeatMs) return;
      this.#reportedFull = now;
    }
    this.#onFailure(error, writes);
  }
}

/** Takes out those that have waited for longer than so many milliseconds. */
function takeOlder(writes: QueuedWrite[], ms: number): QueuedWrite[] {
  const newest = performance.now() - ms;
  const left = writes.findIndex(({ since }) => since > newest);
  return writes.splice(0, left < 0 ? Infinity : left);
}

/**
 * A COMMIT that met a lock or a full disk was not made. After any other failure (a sync, above
 * all) the log may hold it, and a restart may bring it back.
 */
function outcomeOfCommit(error: unknown): Outcome {
  const isRefused = isDriverError(error, resultCode.busy) || isDriverError(error, resultCode.full);
  return isRefused ? 'none' : 'unknown';
}
