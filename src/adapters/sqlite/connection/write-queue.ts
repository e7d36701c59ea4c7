import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises';
import { type Outcome, RostrumError, refusedByDatabase } from '../../../domain/errors.ts';
import type { DataFile } from './data-file.ts';
import { DriverError, hasCode, SqliteStoreError } from './errors.ts';

export const writeLimits = {
  /** How many writes can wait: one more is `overloaded`. */
  queuedWrites: 10_000,
  /** How long opening or a write waits for another process's lock, in milliseconds. */
  busyMs: 5000,
};

/** Limits of a commit: the number of writes, and the milliseconds after which no more are added. */
const groupLimits = { writes: 500, ms: 3 };

/** Delay before retrying a lock held by another process: 1 to 5 ms. */
const randomRetryMs = () => 1 + Math.random() * 4;

/** Written to test whether the disk has space again. It has the size of a long post. */
const probe = 'x'.repeat(64 * 1024);

interface QueuedWrite {
  /** Runs in the open transaction. If it throws, its changes are kept, unless it throws a DriverError. */
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly since: number;
}

/**
 * Group commit: queued writes share one transaction.
 *
 * No write is settled before the group's COMMIT. A rejected write waits too: it may have been rejected because of
 * a write that is then rolled back. A failure of the driver fails the group.
 */
export class WriteQueue {
  readonly #file: DataFile;
  readonly #limits: typeof writeLimits;
  readonly #waiting: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  #isFailing = false;
  /** How many of the next writes get their own transactions. */
  #isolatedWrites = 0;

  constructor(file: DataFile, limits: typeof writeLimits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** Runs a write in a transaction. Returns its result after the commit. */
  async add<T>(run: () => T): Promise<T> {
    this.#file.checkOpen();
    if (this.#waiting.length >= this.#limits.queuedWrites) throw new RostrumError('overloaded', {});
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.#waiting.push({ run, resolve: (value) => resolve(value as T), reject, since });
      this.#running ??= this.#run();
    });
  }

  /** After a failed write, tests whether writes succeed again. */
  checkWritable(): void {
    if (!this.#isFailing) return;
    const { connection } = this.#file;
    connection.transaction('IMMEDIATE', () => {
      connection.run("INSERT OR REPLACE INTO meta VALUES ('probe', ?)", probe);
      connection.run("DELETE FROM meta WHERE name = 'probe'");
      this.#file.recordCommit();
    });
    this.#isFailing = false;
  }

  async close(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await nextIteration(); // All writes of this iteration of the event loop share a commit.
    while (this.#waiting.length > 0) {
      if (this.#begin()) {
        this.#commitGroup();
        await nextIteration();
      } else await pause(randomRetryMs());
    }
    this.#running = undefined;
  }

  /** Begins a transaction. Returns false when another process holds the lock, or if beginning fails. */
  #begin(): boolean {
    const { connection } = this.#file;
    try {
      connection.run('BEGIN IMMEDIATE');
      this.#file.checkUsable();
      return true;
    } catch (error) {
      connection.rollBack();
      const cutoff = performance.now() - (hasCode(error, 'busy') ? this.#limits.busyMs : 0);
      const firstToKeep = this.#waiting.findIndex(({ since }) => since > cutoff);
      const count = firstToKeep < 0 ? Infinity : firstToKeep;
      this.#reject(this.#waiting.splice(0, count), error, 'none');
      return false;
    }
  }

  #commitGroup(): void {
    const { connection } = this.#file;
    const writes: QueuedWrite[] = [];
    const settle: (() => void)[] = [];
    const end = performance.now() + groupLimits.ms;
    const maxWrites = this.#isolatedWrites > 0 ? 1 : groupLimits.writes;
    this.#isolatedWrites = Math.max(this.#isolatedWrites - 1, 0);
    let isCommitting = false;
    try {
      while (this.#waiting[0] && writes.length < maxWrites && performance.now() < end) {
        const write = this.#waiting.shift() as QueuedWrite;
        writes.push(write);
        try {
          const value = write.run();
          settle.push(() => {
            this.#isFailing = false; // A rejected write would say nothing about free space.
            write.resolve(value);
          });
        } catch (error) {
          if (error instanceof DriverError || !connection.inTransaction) throw error;
          settle.push(() => write.reject(error));
        }
      }
      this.#file.recordCommit();
      isCommitting = true;
      connection.run('COMMIT');
    } catch (error) {
      connection.rollBack();
      // After other failures of a commit, such as one of fsync, it may be in the WAL, and take effect after a restart.
      const isUndone = !isCommitting || hasCode(error, 'busy', 'full');
      if (hasCode(error, 'constraint')) this.#isolate(writes, error as DriverError);
      else this.#reject(writes, error, isUndone ? 'none' : 'unknown');
      return;
    }
    for (const one of settle) one();
  }

  /**
   * Rejects the write that violates a constraint of the host. To find it, queues the writes of the group again,
   * each with its own transaction: SQLite does not say which write violates a deferred constraint.
   */
  #isolate(writes: readonly QueuedWrite[], { cause }: DriverError): void {
    if (writes.length === 1) writes[0]?.reject(refusedByDatabase(cause));
    else {
      this.#waiting.unshift(...writes);
      this.#isolatedWrites += writes.length;
    }
  }

  #reject(writes: readonly QueuedWrite[], error: unknown, outcome: Outcome): void {
    if (writes.length === 0) return;
    this.#isFailing = true;
    const translated = this.#file.translate(error, outcome) as Error;
    // A fault of the file has been logged.
    if (!(translated.cause instanceof SqliteStoreError)) {
      const message = hasCode(error, 'full')
        ? `The disk of the data file ${this.#file.path} is full: free some space.`
        : `Changes of the data file ${this.#file.path} could not be committed.`;
      this.#file.log(error as Error, message);
    }
    for (const write of writes) write.reject(translated);
  }
}
