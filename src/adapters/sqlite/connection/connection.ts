import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DriverError, SqliteStoreError } from './errors.ts';

/** A value of a statement's parameter, or of a row. */
export type SqlValue = string | number | null;

type Tuple = readonly SqlValue[];

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
  get<Row extends Tuple>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#call(() => this.#prepared(sql).get(...values)) as unknown as Row | undefined;
  }

  /** Returns all rows of a query. */
  all<Row extends Tuple>(sql: string, ...values: SqlValue[]): readonly Row[] {
    return this.#call(() => this.#prepared(sql).all(...values)) as unknown as readonly Row[];
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return this.#call(() => Number(this.#prepared(sql).run(...values).changes));
  }

  /** Runs statements that are not worth keeping. */
  exec(sql: string): void {
    this.#call(() => this.#database.exec(sql));
  }

  /** Returns SQLite's words for how it runs a query. They may change with the version of SQLite. */
  planOf(sql: string): string {
    let plan = this.#plans.get(sql);
    if (plan === undefined) {
      const steps = this.#call(() => this.#database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
      plan = steps.map(({ detail }) => detail).join();
      keep(this.#plans, sql, plan);
    }
    return plan;
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
      // The next transaction finds this one open, and rolls it back.
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
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      keep(this.#statements, sql, statement);
    }
    return statement;
  }
}

/** Drops the oldest entry when there are too many. */
function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  const [oldest] = kept.keys();
  if (kept.size >= maxStatements && oldest !== undefined) kept.delete(oldest);
  kept.set(key, value);
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
  // 16 MiB hold the inner pages of the indexes of a million records. A commit may look through all.
  ['cache_size', '-16384'],
  // Pages of the log between two checkpoints. With half as many, one in a hundred posts would wait for one.
  ['wal_autocheckpoint', '2000'],
  // After a peak the log gives its space back.
  ['journal_size_limit', String(64 * 1024 * 1024)],
] as const;

/** Sets up a connection, and throws when a setting that safety depends on did not take effect. */
export function applyPragmas(connection: Connection, file: string): void {
  for (const [name, value] of [...needed, ...wished]) connection.exec(`PRAGMA ${name} = ${value}`);
  for (const [name, value, expected] of needed) {
    if (pragma(connection, name) === expected) continue;
    const message = `SQLite did not take the setting ${name} = ${value} for the data file ${file}: use a local file system that allows it.`;
    throw new SqliteStoreError('store-unsafe-settings', message);
  }
}

/** Returns the present value of a setting. */
export function pragma(connection: Connection, name: string): SqlValue | undefined {
  return connection.get<[SqlValue]>(`PRAGMA ${name}`)?.[0];
}

/** Looks through a whole database: about 3 s for each gigabyte. */
export function isSound(connection: Connection): boolean {
  return connection.get<[string]>('PRAGMA quick_check(1)')?.[0] === 'ok';
}
