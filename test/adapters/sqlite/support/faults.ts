import { DatabaseSync } from 'node:sqlite';
import type { Database, OpenDatabase } from '../../../../src/adapters/sqlite/database.ts';

/** Extended result codes, as `node:sqlite` gives them. */
export const codes = { busy: 5, full: 13, fsync: 1034 } as const;

/** Sees each statement that is run on the data file, before it runs; may throw. */
export type Watch = (sql: string, database: DatabaseSync) => void;

/** A driver that shows what it is told to run, and can be made to fail at it. */
export function watched(watch: Watch): OpenDatabase {
  return (path): Database => {
    const database = new DatabaseSync(path);
    if (path.endsWith('-lock')) return database;
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          run(...values) {
            watch(sql, database);
            return statement.run(...values);
          },
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
      },
      close: () => database.close(),
    };
  };
}

/** What `node:sqlite` throws. */
export function driverFault(errcode: number): Error {
  return Object.assign(new Error('planted'), { code: 'ERR_SQLITE_ERROR', errcode });
}
