import type { DatabaseSync } from 'node:sqlite';
import { codes, driverFault, stepped } from '../adapters/sqlite/support/faults.ts';
import type { Faults } from './faults.ts';

/** A driver whose every call on the data file is a step that can fail. */
export function failingDatabase(faults: Faults): (path: string) => DatabaseSync {
  return stepped((sql, run) => {
    const side = faults.next(sql);
    if (side === 'before') throw driverFault(codes.fsync);
    const result = run();
    if (side === 'after') throw driverFault(codes.fsync);
    return result;
  });
}
