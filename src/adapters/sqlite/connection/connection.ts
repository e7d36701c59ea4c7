import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DriverError, SqliteStoreError } from './errors.ts';

/** A value of a statement's parameter, or of a row. */
export type SqlValue = string | number | null;

/** How many prepared statements are kept: more than the shapes of lists that are in use at a time. */
const maxStatements = 200;

/**
 * A database that keeps its prepared statements, and whose failures are {@link DriverError}s. Rows are
 * tuples, of the type that the caller states: all tables are STRICT.
 */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #plans = new Map<string, string>();

  constructor(open: () => DatabaseSync) {
    try {
      this.#database = open();
    } catch (error) {
      throw new DriverError(error);
    }
  }

  /** False when SQLite has ended the transaction by itself. */
  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Returns the first row of a query. */
  get<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#call(() => this.#prepared(sql).get(...values)) as unknown as Row | undefined;
  }

  /** Returns all rows of a query. */
  all<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): readonly Row[] {
    return this.#call(() => this.#prepared(sql).all(...values)) as unknown as readonly Row[];
  }

  /** Returns SQLite's description of how it runs a query. It can change between versions of SQLite. */
  planOf(sql: string): string {
    let plan = this.#plans.get(sql);
    if (plan === undefined) {
      const steps = this.#call(() => this.#database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
      plan = steps.map(({ detail }) => detail).join('\n');
      if (this.#plans.size >= maxStatements) this.#plans.clear();
      this.#plans.set(sql, plan);
    }
    return plan;
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#call(() => Number(this.#prepared(sql).run(...values).changes));
  }

  /** Runs statements that are not worth keeping. */
  exec(sql: string): void {
    this.#call(() => this.#database.exec(sql));
  }

  /** Runs statements as one transaction. */
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

  /** Rolls back, unless SQLite has done so by itself. */
  rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // A transaction that is still open is rolled back before the next one begins.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #call<T>(driver: () => T): T {
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

/** Settings that the store's promises depend on, with what SQLite returns once they are in effect. */
const needed = [
  // Readers see the last commit while a write goes on.
  ['journal_mode', 'WAL', 'wal'],
  // Each commit is synced before it returns; NORMAL would lose the last ones in a power cut.
  ['synchronous', 'FULL', 2],
  // No post without its author.
  ['foreign_keys', 'ON', 1],
] as const;

const wished = [
  // 16 MiB of pages: the inner pages of the indexes of a million records. A commit may look through all
  // cached pages, so more would slow it down.
  ['cache_size', '-16384'],
  // Pages of the log between two checkpoints. With half as many, one in a hundred single posts would wait
  // for a checkpoint.
  ['wal_autocheckpoint', '2000'],
  // After a peak the log gives its space back.
  ['journal_size_limit', String(64 * 1024 * 1024)],
] as const;

/** Sets up a connection, and throws when a setting that safety depends on did not take effect. */
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

/** Returns the present value of a setting. */
export function pragma(connection: Connection, name: string): SqlValue | undefined {
  return connection.get<[SqlValue]>(`PRAGMA ${name}`)?.[0];
}
