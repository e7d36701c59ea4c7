import { setTimeout as pause } from 'node:timers/promises';
import { type Outcome, storeUnavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../ports/logger.ts';
import { checkVersion } from '../layout.ts';
import { type Connection, pragma, type SqlValue } from './connection.ts';
import { identityOf } from './data-file.ts';
import { DriverError, damaged, hasCode, SqliteStoreError } from './errors.ts';

/** For how long a read waits while another process recovers the log, and how often it tries again. */
const [recoveryMs, retryMs] = [2000, 5];

/** For how long, in milliseconds, the same fault is not reported again. */
const repeatMs = 10_000;

/** The data file of an open store: runs reads on it, and knows what is wrong with it. */
export class OpenFile {
  readonly path: string;
  readonly connection: Connection;
  readonly #logger: Logger;
  /** Identifies the file, wherever it is moved. */
  readonly identity: string | undefined;
  #isClosed = false;
  /** The `schema_version` of the file when SQLite found it damaged. */
  #damagedAt: SqlValue | undefined;
  #isMoved = false;
  #reported: { readonly message: string; readonly at: number; isOver: boolean } | undefined;

  /** @param logger must not throw */
  constructor(path: string, connection: Connection, logger: Logger) {
    this.path = path;
    this.connection = connection;
    this.#logger = logger;
    this.identity = identityOf(path);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends every later call; the connection stays open for those under way. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws RostrumError `store-unavailable` after {@link close} */
  checkOpen(): void {
    if (this.#isClosed) throw storeUnavailable('none');
  }

  /** Runs a read on the main connection. It needs no lock: outside a write group, every row is committed. */
  async read<T>(run: () => T): Promise<T> {
    this.checkOpen();
    for (const start = performance.now(); ; await pause(retryMs)) {
      try {
        return run();
      } catch (error) {
        const isOver = performance.now() - start > recoveryMs || this.#isClosed;
        if (!hasCode(error, 'busy') || isOver) throw this.translated(error, 'none');
      }
    }
  }

  /**
   * Throws when the file must not be written to: it is not where it was, it is damaged, or a newer version
   * of Rostrum has changed its layout.
   */
  check(): void {
    if (identityOf(this.path) !== this.identity) throw this.#moved();
    if (this.#isMoved) this.recovered();
    this.#isMoved = false;
    // A restored backup has another schema version, and is not damaged.
    if (this.#damagedAt !== undefined && this.#damagedAt === this.#schemaVersion()) {
      throw damaged(this.path);
    }
    this.#damagedAt = undefined;
    checkVersion(this.connection, this.path);
  }

  /** Translates an error of the driver into an error of the ports. Takes note of damage. */
  translated(error: unknown, outcome: Outcome): unknown {
    if (error instanceof SqliteStoreError) return storeUnavailable(outcome, error);
    if (!(error instanceof DriverError)) return error;
    if (!hasCode(error, 'corrupt', 'notADatabase')) return storeUnavailable(outcome, error.cause);
    this.#damagedAt = this.#schemaVersion();
    const sentence = damaged(this.path, error.cause);
    this.report(sentence.message, error);
    return storeUnavailable(outcome, sentence);
  }

  /** Logs a fault once, until the store has worked again, and at most every 10 s. */
  report(message: string, err: unknown, fields: object = {}): void {
    const [now, last] = [performance.now(), this.#reported];
    if (last?.message === message && !(last.isOver && now - last.at > repeatMs)) return;
    this.#reported = { message, at: now, isOver: false };
    this.#logger.error({ err, ...fields }, message);
  }

  /** The store has worked: the next fault is a new one. */
  recovered(): void {
    if (this.#reported !== undefined) this.#reported.isOver = true;
  }

  /**
   * Moves the log into the file. Readers and other processes are not waited for.
   *
   * So a file that is copied while nobody writes to it is whole.
   */
  checkpoint(): void {
    try {
      this.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      this.translated(error, 'none');
    }
  }

  #moved(): SqliteStoreError {
    const message = `The data file ${this.path} was moved, replaced or deleted while it was open: put it back, or restart the server.`;
    const error = new SqliteStoreError('store-file-moved', message);
    if (!this.#isMoved) {
      this.#isMoved = true;
      this.report(message, error);
      // The log stays under the old name, where SQLite would apply it to the next file. Later, because a
      // transaction may be open.
      setImmediate(() => this.checkpoint());
    }
    return error;
  }

  /** Null when even that cannot be read. */
  #schemaVersion(): SqlValue {
    try {
      return pragma(this.connection, 'schema_version') ?? null;
    } catch {
      return null;
    }
  }
}
