import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { storeUnavailable } from '../../../domain/errors.ts';
import { DriverError, SqliteStoreError } from './errors.ts';

/** What a statement takes and what a row holds. */
export type SqlValue = string | number | null;

/** How many prepared statements are kept. Lists have more shapes than are in use at a time. */
const maxStatements = 200;

/**
 * A database whose prepared statements are kept, and whose failures are {@link DriverError}s.
 *
 * Rows are tuples of the type that the caller says: the tables are STRICT, and they are our own.
 * Nothing of a row is kept: what another process commits is in the next read.
 */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #closed = false;
  /** What kept a transaction from being rolled back that has to be. */
  #stuck: DriverError | undefined;

  constructor(open: () => DatabaseSync) {
    try {
      this.#database = open();
    } catch (error) {
      throw new DriverError(error);
    }
  }

  /** False when SQLite has ended a transaction by itself, or one is left that must be ended. */
  get inTransaction(): boolean {
    return this.#stuck === undefined && this.#database.isTransaction;
  }

  /** The first row of a query. */
  get<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#call(() => this.#prepared(sql).get(...values)) as unknown as Row | undefined;
  }

  /** The rows of a query, read at once: in half the time that {@link iterate} takes. */
  all<Row extends readonly SqlValue[]>(
    sql: string,
    ...values: readonly SqlValue[]
  ): readonly Row[] {
    return this.#call(() => this.#prepared(sql).all(...values)) as unknown as readonly Row[];
  }

  /** The rows of a query, each read when it is asked for; all are of one moment. */
  *iterate<Row extends readonly SqlValue[]>(
    sql: string,
    ...values: readonly SqlValue[]
  ): Iterable<Row> {
    const rows = this.#call(() => this.#prepared(sql).iterate(...values));
    try {
      for (const row of rows as unknown as Iterable<Row>) yield row;
    } catch (error) {
      throw new DriverError(error);
    }
  }

  /** @returns how many rows it changed */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#call(() => Number(this.#prepared(sql).run(...values).changes));
  }

  /** Runs statements that are not worth keeping; several, between semicolons. */
  exec(sql: string): void {
    this.#call(() => this.#database.exec(sql));
  }

  /** Runs statements as one transaction: of one moment, and all of them take effect or none. */
  transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', run: () => T): T {
    this.run(`BEGIN ${kind}`);
    try {
      const result = run();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /**
   * Leaves no transaction open; SQLite may have ended it by itself. Where it cannot be ended, every
   * later call tries again first, and fails before it would read what was never committed.
   */
  rollBack(): void {
    this.#stuck = undefined;
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch (error) {
      this.#stuck = new DriverError(error);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#database.close();
  }

  #call<T>(driver: () => T): T {
    if (this.#closed) throw storeUnavailable('none');
    if (this.#stuck !== undefined) this.rollBack();
    if (this.#stuck !== undefined) throw this.#stuck;
    try {
      return driver();
    } catch (error) {
      throw new DriverError(error);
    }
  }

  #prepared(sql: string): StatementSync {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size >= maxStatements && oldest !== undefined) {
      this.#statements.delete(oldest);
    }
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** What the store's promises rest on, and what SQLite says when it took. */
const needed = [
  // Readers see the last commit while a write goes on.
  ['journal_mode', 'WAL', 'wal'],
  // Each commit is synced before it returns; NORMAL would lose the last ones with the power.
  ['synchronous', 'FULL', 2],
  // No post without its author.
  ['foreign_keys', 'ON', 1],
] as const;

const wished = [
  // 16 MiB of pages: the inner ones of a million records' indexes. No more, as a commit may look
  // through all of them.
  ['cache_size', '-16384'],
  // Pages of the log between two checkpoints, which a hundredth of all single posts would wait for
  // with half as many.
  ['wal_autocheckpoint', '2000'],
  // After a peak the log gives its space back.
  ['journal_size_limit', String(64 * 1024 * 1024)],
] as const;

/** Sets up a connection and refuses one that is not as safe as it has to be. */
export function applyPragmas(connection: Connection, file: string): void {
  for (const [name, value] of [...needed, ...wished]) connection.exec(`PRAGMA ${name} = ${value}`);
  for (const [name, value, expected] of needed) {
    if (pragma(connection, name) === expected) continue;
    throw new SqliteStoreError(
      'store-unsafe-settings',
      `SQLite did not take the setting ${name} = ${value} for the data file ${file}: use a local file system that allows it.`,
    );
  }
}

/** The present value of a setting. */
export function pragma(connection: Connection, name: string): SqlValue | undefined {
  return connection.get<[SqlValue]>(`PRAGMA ${name}`)?.[0];
}
