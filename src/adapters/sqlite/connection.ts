import { storeUnavailable } from '../../domain/errors.ts';
import type { Database, SqlValue, Statement } from './database.ts';
import { DriverError, resultCode } from './driver-error.ts';

/** How many prepared statements are kept. Lists have more shapes than anybody uses at a time. */
const maxStatements = 200;

/**
 * A database with its statements prepared once and kept, whose failures are {@link DriverError}s.
 *
 * The rows that a statement returns are of the type that the caller says: the tables are STRICT,
 * and their columns are our own.
 */
export class Connection {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #closed = false;
  /** What kept a transaction from being rolled back that has to be. */
  #stuck: DriverError | undefined;
  #textWritten = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Units of text that were handed to {@link run} so far: about the bytes that were written. */
  get textWritten(): number {
    return this.#textWritten;
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#call(() => this.#prepared(sql).get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#call(() => this.#prepared(sql).all(...values) as Row[]);
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#textWritten += textLength(values);
    this.#call(() => this.#prepared(sql).run(...values));
  }

  /**
   * Leaves no transaction open; SQLite may have ended it by itself. Where it cannot be ended, every
   * later call tries again first, and fails before it would read what was never committed.
   */
  rollBack(): void {
    this.#stuck = undefined;
    try {
      this.run('ROLLBACK');
    } catch (error) {
      // A plain error, with no word of files or memory, is of a transaction that is not there.
      if (error instanceof DriverError && error.code !== resultCode.error) this.#stuck = error;
    }
  }

  /** Runs statements that are not worth keeping; several, between semicolons. */
  exec(sql: string): void {
    this.#call(() => this.#database.exec(sql));
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

  /** The least recently used statement makes room: a Map keeps the order of insertion. */
  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > maxStatements) {
      const [oldest] = this.#statements.keys();
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    return statement;
  }
}

/** The length of all texts among some values. */
export function textLength(values: readonly SqlValue[]): number {
  let length = 0;
  for (const value of values) if (typeof value === 'string') length += value.length;
  return length;
}
