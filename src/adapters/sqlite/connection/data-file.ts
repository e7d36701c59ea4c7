import { copyFileSync, existsSync, truncateSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Outcome, storeUnavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import { checkNotNewer } from '../layout.ts';
import { type Connection, pragma, retryMs, type SqlValue } from './connection.ts';
import {
  DriverError,
  damaged,
  fileMoved,
  fileOverwritten,
  hasCode,
  SqliteStoreError,
} from './errors.ts';
import { type Commit, lastCheckpointedCommit, recordCommit, walBelongsTo } from './last-commit.ts';
import { identityOf } from './prepare-data-file.ts';

/** How long a read waits while another process recovers the WAL, in milliseconds. */
export const recoveryMs = 2000;

/** How often the file itself is read, in milliseconds. */
const overwriteCheckMs = 1000;

/** Minimum time between two log lines with the same message, in milliseconds. */
const logAgainMs = 60_000;

/** The data file of an open store: runs reads, and detects when the file is moved, replaced or damaged. */
export class DataFile {
  readonly path: string;
  readonly connection: Connection;
  /** Identifies the file even after it was moved. */
  readonly #identity: string | undefined;
  readonly #logger: Logger;
  #isClosed = false;
  /** The last commit that was seen in the file itself. */
  #checkpointed: Commit | undefined;
  /** Makes the error if another file, or an unreadable one, is in place of the data file. */
  #fault: ((file: string, cause?: unknown) => SqliteStoreError) | undefined;
  #checkedAt = performance.now();
  /** The `schema_version` of the file when SQLite found it damaged. */
  #damagedSchemaVersion: SqlValue | undefined;
  readonly #loggedAt = new Map<string, number>();

  /** @param logger must not throw */
  constructor(path: string, connection: Connection, logger: Logger) {
    this.path = path;
    this.connection = connection;
    this.#identity = identityOf(path);
    this.#logger = logger;
    this.#checkpointed = lastCheckpointedCommit(path);
  }

  /** Rejects calls from now on. The connection stays open for calls in progress. */
  rejectCalls(): void {
    this.#isClosed = true;
  }

  /** @throws RostrumError `store-unavailable` after {@link rejectCalls} */
  checkOpen(): void {
    if (this.#isClosed) throw storeUnavailable('none');
  }

  /** Runs a read on the main connection. It needs no lock: outside a write group, every row is committed. */
  async read<T>(run: () => T): Promise<T> {
    for (const start = performance.now(); ; await pause(retryMs)) {
      this.checkOpen();
      try {
        return run();
      } catch (error) {
        const isOver = performance.now() - start > recoveryMs;
        if (isOver || !hasCode(error, 'busy')) throw this.translate(error, 'none');
      }
    }
  }

  /** @throws SqliteStoreError if the file must not be written to in its present state */
  checkUsable(): void {
    if (this.isMoved()) throw fileMoved(this.path);
    const isDue = performance.now() - this.#checkedAt > overwriteCheckMs;
    if (this.#fault || isDue) this.#detectOverwrite();
    if (this.#fault) throw this.#fault(this.path);
    if (
      this.#damagedSchemaVersion !== undefined &&
      this.#damagedSchemaVersion === this.#schemaVersion
    ) {
      throw damaged(this.path);
    }
    // A restored backup has another schema version.
    this.#damagedSchemaVersion = undefined;
    checkNotNewer(this.connection, this.path);
  }

  isMoved(): boolean {
    return identityOf(this.path) !== this.#identity;
  }

  /** Writes which commit this is, in the open transaction. */
  recordCommit(): void {
    recordCommit(this.connection, this.#checkpointed);
  }

  /**
   * Translates a driver error into an error of the ports. Logs a fault of the file, and remembers damage. Errors of
   * every code become `store-unavailable`: an error fails a whole group of writes, and each caller needs its outcome.
   */
  translate(error: unknown, outcome: Outcome): unknown {
    if (error instanceof SqliteStoreError) return storeUnavailable(outcome, this.log(error));
    if (!(error instanceof DriverError)) return error;
    if (!hasCode(error, 'corrupt', 'notADatabase')) return storeUnavailable(outcome, error.cause);
    this.#damagedSchemaVersion = this.#schemaVersion;
    try {
      this.#detectOverwrite();
    } catch {
      // Keep the last result: an error here would end the write queue.
    }
    const fault = this.#fault ?? damaged;
    return this.translate(fault(this.path, error.cause), outcome);
  }

  /** Logs an error and returns it. The same message is logged at most once a minute. */
  log<E extends Error>(err: E, message = err.message): E {
    const now = performance.now();
    if (now - (this.#loggedAt.get(message) ?? -logAgainMs) < logAgainMs) return err;
    this.#loggedAt.set(message, now);
    this.#logger.error({ err }, message);
    return err;
  }

  /** Closes the connection. If it is the last one, SQLite copies the WAL into the file, unless that was moved. */
  close(): void {
    try {
      if (this.isMoved()) {
        // The moved file gets the WAL (TRUNCATE). If a copy of it is at the path, the WAL stays for that copy, too (PASSIVE).
        const isCopied = existsSync(this.path) && walBelongsTo(this.path, this.connection);
        const mode = isCopied ? 'PASSIVE' : 'TRUNCATE';
        this.connection.exec(`PRAGMA wal_checkpoint(${mode})`);
      } else {
        this.#detectOverwrite();
        if (this.#fault) this.#emptyWal();
      }
    } catch (error) {
      this.translate(error, 'none'); // Logs damage.
    } finally {
      this.connection.close();
    }
  }

  /**
   * Empties the WAL, so that SQLite doesn't copy it into the file that was copied over this one. SQLite does so only when
   * the last connection closes, so another one keeps the WAL.
   */
  #emptyWal(): void {
    const wal = `${this.path}-wal`;
    if (!existsSync(wal) || this.#isShared()) return;
    copyFileSync(wal, `${wal}.old`);
    truncateSync(wal);
  }

  /** True if other connections are open. In exclusive mode, a writer must be the only connection. */
  #isShared(): boolean {
    try {
      this.connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
      return false;
    } catch (error) {
      return hasCode(error, 'busy');
    }
  }

  /** Finds out whether another file was copied over this one. */
  #detectOverwrite(): void {
    this.#checkedAt = performance.now();
    const last = this.#checkpointed;
    const inFile = lastCheckpointedCommit(this.path);
    const isSame = inFile?.sequence === last?.sequence && inFile?.mark === last?.mark;
    // Each try blocks the event loop. Only the first check needs several.
    const tries = this.#fault && 1;
    if (isSame || walBelongsTo(this.path, this.connection, last, tries)) {
      this.#checkpointed = inFile;
      this.#fault = undefined;
    } else this.#fault = inFile === undefined ? damaged : fileOverwritten;
  }

  /** SQLite raises it with each change of a table or an index. Null if it cannot be read. */
  get #schemaVersion(): SqlValue {
    try {
      return pragma(this.connection, 'schema_version') ?? null;
    } catch {
      return null;
    }
  }
}
