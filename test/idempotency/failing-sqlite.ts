import { DatabaseSync } from 'node:sqlite';
import type { Database, OpenDatabase } from '../../src/adapters/sqlite/index.ts';
import { codes, driverFault } from '../adapters/sqlite/support/faults.ts';
import type { Faults } from './faults.ts';

/** A driver whose every call on the data file is a step that can fail. */
export function failingDatabase(faults: Faults): OpenDatabase {
  function step<T>(sql: string, run: () => T): T {
    const side = faults.next(sql);
    if (side === 'before') throw driverFault(codes.fsync);
    const result = run();
    if (side === 'after') throw driverFault(codes.fsync);
    return result;
  }

  return (path): Database => {
    const database = new DatabaseSync(path);
    if (path.endsWith('-lock')) return database;
    return {
      exec: (sql) => step(sql, () => database.exec(sql)),
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          run: (...values) => step(sql, () => statement.run(...values)),
          get: (...values) => step(sql, () => statement.get(...values)),
          all: (...values) => step(sql, () => statement.all(...values)),
        };
      },
      close: () => database.close(),
    };
  };
}
