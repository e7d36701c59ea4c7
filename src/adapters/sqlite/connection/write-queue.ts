import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { type Outcome, RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { WriteLimits } from '../options.ts';
import type { Connection } from './connection.ts';
import { DriverError, isDriverError, resultCode, translated } from './errors.ts';

/** How many writes share a commit, and for how many milliseconds more are taken into it. */
const group = { writes: 500, ms: 3 };

/** How long to wait before a lock that another process holds is tried again: 1 to 5 ms. */
const retryMs = () => 1 + Math.random() * 4;

/** For how long, in milliseconds, the same failure is not reported again. */
const repeatMs = 10_000;

/**
 * Reads and changes in the transaction that is open. One that throws anything but a DriverError
 * has changed nothing, or nothing that may not stay.
 */
type Write<T> = () => T;

interface QueuedWrite {
  readonly run: Write<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly since: number;
}

/**
 * Lets writes that wait at the same time share a commit.
 *
 * No write is settled before the group's COMMIT. That holds for a refusal too, as its reason may be
 * another write of the group, which in the end is not made. A failure of the driver fails the group.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #limits: WriteLimits;
  readonly #check: () => void;
  readonly #logger: Logger | undefined;
  readonly #waiting: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;
  #isDiskFull = false;
  #reported: { readonly code: number | undefined; readonly at: number } | undefined;

  /** @param check throws in a transaction that must not write to the file as it is now */
  constructor(connection: Connection, limits: WriteLimits, check: () => void, logger?: Logger) {
    this.#connection = connection;
    this.#limits = limits;
    this.#check = check;
    this.#logger = logger;
  }

  /** True from a write that found the disk full until a group is committed. */
  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  /** Runs a write in a transaction; fulfilled with what it returns when that is committed. */
  add<T>(run: Write<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeUnavailable('none'));
    if (this.#waiting.length >= this.#limits.queuedWrites) {
      return Promise.reject(new RostrumError('overloaded', {}));
    }
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, resolve: (value) => resolve(value as T), reject, since });
      this.#running ??= this.#run();
    });
  }

  /** Takes no more writes; fulfilled when those that wait have come to their end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    await turn(); // What the events of this turn bring shares the commit.
    while (this.#waiting.length > 0) {
      if (!this.#begin()) await pause(retryMs());
      else {
        this.#commitGroup();
        await turn();
      }
    }
    this.#running = undefined;
  }

  /** Begins a transaction. Returns false when another process holds the lock, or it fails. */
  #begin(): boolean {
    try {
      this.#connection.run('BEGIN IMMEDIATE');
      this.#check();
      return true;
    } catch (error) {
      // Should a transaction be open against all odds, the next group must not find it.
      this.#connection.rollBack();
      const isBusy = isDriverError(error, resultCode.busy);
      const oldest = performance.now() - (isBusy ? this.#limits.busyMs : 0);
      const left = this.#waiting.findIndex(({ since }) => since > oldest);
      this.#reject(this.#waiting.splice(0, left < 0 ? Infinity : left), error, 'none');
      return false;
    }
  }

  #commitGroup(): void {
    const writes: QueuedWrite[] = [];
    const settle: (() => void)[] = [];
    const end = performance.now() + group.ms;
    let [isCommitting, hasWritten] = [false, false];
    try {
      do {
        const write = this.#waiting.shift();
        if (write === undefined) break;
        writes.push(write);
        try {
          const value = write.run();
          hasWritten = true;
          settle.push(() => write.resolve(value));
        } catch (error) {
          if (error instanceof DriverError || !this.#connection.inTransaction) throw error;
          settle.push(() => write.reject(error));
        }
      } while (writes.length < group.writes && performance.now() < end);
      isCommitting = true;
      this.#connection.run('COMMIT');
      // A group of refusals alone has found no space.
      if (hasWritten) this.#isDiskFull = false;
    } catch (error) {
      this.#connection.rollBack();
      this.#reject(writes, error, isCommitting ? outcomeOfCommit(error) : 'none');
      return;
    }
    for (const one of settle) one();
  }

  #reject(writes: readonly QueuedWrite[], error: unknown, outcome: Outcome): void {
    if (writes.length === 0) return;
    const code = error instanceof DriverError ? error.code : undefined;
    const isFull = code === resultCode.full;
    if (isFull) this.#isDiskFull = true;
    const now = performance.now();
    const last = this.#reported;
    if (last === undefined || last.code !== code || now - last.at > repeatMs) {
      this.#reported = { code, at: now };
      const message = isFull
        ? 'The disk is full: changes are refused.'
        : 'A group of writes could not be committed.';
      this.#logger?.error({ err: error, writes: writes.length }, message);
    }
    for (const write of writes) write.reject(translated(error, outcome));
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
