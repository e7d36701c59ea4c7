import { SqliteStoreError } from './errors.ts';

/** What a statement takes and what a row holds. */
export type SqlValue = string | number | null;

/** The little that is used of a prepared statement. */
export interface Statement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/**
 * The little that is used of a driver. `DatabaseSync` of `node:sqlite` has it, and so has
 * better-sqlite3; errors are read by their `errcode` (the former) or `code` (the latter).
 */
export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

/** Opens a database file, and makes it when there is none. */
export type OpenDatabase = (path: string) => Database;

/**
 * Node's own SQLite.
 *
 * Looked up and not imported: so a Node without it can say what is missing, and a program that
 * brings another driver does not load it.
 */
export const openNodeDatabase: OpenDatabase = (path) => {
  const sqlite = process.getBuiltinModule('node:sqlite');
  if (sqlite === undefined) {
    throw new SqliteStoreError(
      'store-driver-missing',
      `This Node (${process.version}) has no node:sqlite: use Node 22.18 or newer, or open the store with a database of better-sqlite3.`,
    );
  }
  return new sqlite.DatabaseSync(path);
};
