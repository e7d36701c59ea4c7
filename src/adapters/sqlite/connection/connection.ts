import { backup, type DatabaseSync, type StatementSync } from 'node:sqlite';
import { DriverError, hasCode, SqliteStoreError } from './errors.ts';

/** A value of a statement's parameter, or of a row. */
export type SqlValue = string | number | null;

/** How many prepared statements are cached: more than the kinds of lists in use at a time. */
const maxStatements = 200;

/**
 * A connection that caches prepared statements and throws {@link DriverError}s. Rows are tuples of the type that
 * the caller states, which their columns guarantee: all tables are STRICT.
 */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(open: () => DatabaseSync) {
    this.#database = withDriverErrors(open);
  }

  /** True while a transaction is open. SQLite can end one by itself. */
  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  get<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Row | undefined {
    return withDriverErrors(() => this.#prepared(sql).get(...values)) as unknown as Row | undefined;
  }

  all<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): readonly Row[] {
    return withDriverErrors(() => this.#prepared(sql).all(...values)) as unknown as readonly Row[];
  }

  /** Reads rows one by one. Leaving the loop ends the statement. */
  *iterate<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Generator<Row> {
    try {
      yield* this.#prepared(sql).iterate(...values) as unknown as Iterable<Row>;
    } catch (error) {
      throw new DriverError(error);
    }
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return withDriverErrors(() => Number(this.#prepared(sql).run(...values).changes));
  }

  /** Runs statements without caching them. */
  exec(sql: string): void {
    withDriverErrors(() => this.#database.exec(sql));
  }

  transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', run: () => T): T {
    try {
      this.run(`BEGIN ${kind}`);
      const result = run();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Rolls back, unless SQLite has done so by itself. */
  rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // The next BEGIN fails, and tries again to roll back.
    }
  }

  /**
   * Copies the database over a file.
   *
   * @param onProgress called with the number of copied pages, and of all pages; an error it throws ends the copy
   */
  async copyTo(file: string, onProgress: (done: number, total: number) => void): Promise<void> {
    try {
      await backup(this.#database, file, {
        rate: 512, // Pages between two reports.
        progress: ({ totalPages: all, remainingPages: left }) => onProgress(all - left, all),
      });
    } catch (error) {
      throw error instanceof Error && 'errcode' in error ? new DriverError(error) : error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepared(sql: string): StatementSync {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size >= maxStatements) this.#statements.delete(String(oldest));
    this.#statements.set(sql, statement);
    return statement;
  }
}

function withDriverErrors<T>(driver: () => T): T {
  try {
    return driver();
  } catch (error) {
    throw new DriverError(error);
  }
}

/**
 * The cache of a connection: 16,384 KiB. The inner pages of all indexes of a million records fit, and a commit may
 * need any of them.
 */
export const cacheSize = '-16384';

const pragmas = `
  -- Readers see the last commit while a write goes on.
  PRAGMA journal_mode = WAL;
  -- Each commit is synced before it returns; NORMAL would lose the last ones in a power cut.
  PRAGMA synchronous = FULL;
  -- On macOS, a sync reaches the disk itself only with F_FULLFSYNC. Elsewhere, this changes nothing.
  PRAGMA fullfsync = ON;
  -- No post without its author.
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = ${cacheSize};
  -- A checkpoint runs after this many pages. With half as many, one in a hundred new posts would wait for one.
  PRAGMA wal_autocheckpoint = 2000;
  -- Bytes that the WAL shrinks to after a peak.
  PRAGMA journal_size_limit = ${64 * 1024 * 1024}`;

/** Sets up a connection. Throws if the file system has no shared memory, which the WAL needs. */
export function applyPragmas(connection: Connection, file: string, timeout: number): void {
  for (const end = performance.now() + timeout; ; block(retryMs)) {
    try {
      connection.exec(pragmas);
      break;
    } catch (error) {
      // SQLite itself does not wait while another process changes the journal mode of a new file.
      if (!hasCode(error, 'busy') || performance.now() > end) throw error;
    }
  }
  if (pragma(connection, 'journal_mode') === 'wal') return;
  const message = `SQLite cannot keep a write-ahead log beside the data file ${file}: use a local file system.`;
  throw new SqliteStoreError('store-unsafe-settings', message);
}

/** Delay before retrying an operation that another process blocks, in milliseconds. */
export const retryMs = 5;

/** Blocks the event loop. */
export function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export function pragma(connection: Connection, name: string): SqlValue | undefined {
  return connection.get<[SqlValue]>(`PRAGMA ${name}`)?.[0];
}

/** Checks all tables and indexes of a database: 2 to 14 s per gigabyte. */
export function isSound(connection: Connection): boolean {
  return pragma(connection, 'integrity_check(1)') === 'ok';
}
