import { renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { type Outcome, storeUnavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import { checkVersion } from '../layout.ts';
import { Connection, pragma, type SqlValue } from './connection.ts';
import { identityOf } from './data-file.ts';
import {
  DriverError,
  damaged,
  fileMoved,
  fileOverwritten,
  hasCode,
  SqliteStoreError,
} from './errors.ts';
import { type Commit, DataFileReader, isOwnFile, recordCommit } from './last-commit.ts';

/** How long a read waits while another process recovers the log, in milliseconds. */
export const recoveryMs = 2000;

/** The pause between two tries of a read. */
const retryMs = 5;

/** How long a message is not logged again, in milliseconds. */
const repeatMs = 60_000;

/** The data file of an open store: runs reads, and detects when the file is moved, replaced or damaged. */
export class OpenFile {
  readonly path: string;
  readonly connection: Connection;
  /** Identifies the file even after it was moved. */
  readonly identity: string | undefined;
  readonly #logger: Logger;
  #isClosed = false;
  #isMoved = false;
  /** The identities of the log and its index. */
  readonly #logs: Readonly<Record<string, string | undefined>>;
  readonly #reader: DataFileReader;
  /** The last commit that was seen in the file. */
  #inFile: Commit | undefined;
  /** The `schema_version` of the file when SQLite found it damaged. */
  #damagedAt: SqlValue | undefined;
  readonly #loggedAt = new Map<string, number>();

  /** @param logger must not throw */
  constructor(path: string, connection: Connection, logger: Logger) {
    this.path = path;
    this.connection = connection;
    this.identity = identityOf(path);
    this.#logger = logger;
    const logs = [`${path}-wal`, `${path}-shm`];
    this.#logs = Object.fromEntries(logs.map((log) => [log, identityOf(log)]));
    this.#reader = new DataFileReader(path);
    this.#inFile = this.#reader.lastCommit();
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
  check(): void {
    const wasMoved = this.#isMoved;
    this.#isMoved = identityOf(this.path) !== this.identity;
    if (this.#isMoved) {
      // Checkpoint, so that the moved file gets the commits in its log. Deferred: a transaction may be open.
      if (!wasMoved) setImmediate(() => this.#checkpoint('PASSIVE'));
      throw this.log(fileMoved(this.path));
    }
    if (this.#isOverwritten()) throw this.log(fileOverwritten(this.path));
    if (this.#damagedAt !== undefined && this.#damagedAt === this.#schemaVersion()) {
      throw damaged(this.path);
    }
    // A restored backup has another schema version.
    this.#damagedAt = undefined;
    checkVersion(this.connection, this.path);
  }

  /** Writes which commit this is, in the open transaction. */
  recordCommit(): void {
    recordCommit(this.connection, this.#inFile);
  }

  /** Translates a driver error into an error of the ports. Remembers damage. */
  translate(error: unknown, outcome: Outcome): unknown {
    if (error instanceof SqliteStoreError) return storeUnavailable(outcome, error);
    if (!(error instanceof DriverError)) return error;
    if (!hasCode(error, 'corrupt', 'notADatabase')) return storeUnavailable(outcome, error.cause);
    if (this.#isOverwritten()) {
      return storeUnavailable(outcome, this.log(fileOverwritten(this.path)));
    }
    this.#damagedAt = this.#schemaVersion();
    return storeUnavailable(outcome, this.log(damaged(this.path, error.cause)));
  }

  /** Logs an error and returns it. The same message is logged at most once a minute. */
  log<E extends Error>(err: E, message = err.message): E {
    const now = performance.now();
    if (now - (this.#loggedAt.get(message) ?? -repeatMs) < repeatMs) return err;
    this.#loggedAt.set(message, now);
    this.#logger.error({ err }, message);
    return err;
  }

  /** Copies the log into the file, and empties it if no other process is using it. */
  checkpoint(): void {
    if (identityOf(this.path) !== this.identity || this.#isOverwritten()) return;
    this.#checkpoint('TRUNCATE');
  }

  /**
   * Closes the connection. If another file is at the path by now, moves the log aside: SQLite would apply it to that
   * file.
   */
  close(): void {
    const isMoved = identityOf(this.path) !== this.identity;
    const isOther = isMoved
      ? !isOwnFile(this.connection, new DataFileReader(this.path))
      : this.#isOverwritten();
    if (!isMoved && !isOther) this.#checkpoint('TRUNCATE');
    const keeper = isOther && !isMoved ? this.#keepLog() : undefined;
    this.connection.close();
    this.#reader.close();
    for (const [log, identity] of Object.entries(isOther ? this.#logs : {})) {
      if (identityOf(log) === identity) renameSync(log, `${log}.old`);
    }
    keeper?.close();
  }

  /** Opens another connection, because the last one to close copies the log into the file unless it is read-only. */
  #keepLog(): Connection {
    const keeper = new Connection(() => new DatabaseSync(this.path, { readOnly: true }));
    try {
      pragma(keeper, 'schema_version'); // Takes the lock that a connection keeps until it is closed.
    } catch (error) {
      this.translate(error, 'none');
    }
    return keeper;
  }

  /** Returns true if another file was copied over this one. */
  #isOverwritten(): boolean {
    const now = this.#reader.lastCommit();
    if (now === undefined || now[1] === this.#inFile?.[1]) return false;
    if (!isOwnFile(this.connection, this.#reader, this.#inFile)) return true;
    this.#inFile = now;
    return false;
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    try {
      this.connection.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (error) {
      this.translate(error, 'none'); // Remembers and logs damage.
    }
  }

  /** Returns null if even that cannot be read. */
  #schemaVersion(): SqlValue {
    try {
      return pragma(this.connection, 'schema_version') ?? null;
    } catch {
      return null;
    }
  }
}
