import { Connection } from './connection.ts';
import type { OpenDatabase } from './database.ts';
import { isDriverError, resultCode } from './driver-error.ts';
import { SqliteStoreError } from './errors.ts';

/** What a lock database is called: the data file's name and this. */
const lockSuffix = '-lock';

/** Held until it is released or the process ends. */
export interface Lock {
  release(): void;
}

/**
 * Keeps a second server off a data file, and lets readers in.
 *
 * A write transaction that is never committed is held on a small empty database beside the file.
 * The operating system ends it with the process, however that ends; an exclusive lock on the data
 * file itself would shut out the sqlite3 shell and backups too.
 *
 * The lock file stays when the lock is gone: to remove it would be a race with the next one who
 * takes it.
 */
export function takeLock(file: string, open: OpenDatabase): Lock {
  let lock: Connection | undefined;
  try {
    lock = new Connection(open(`${file}${lockSuffix}`));
    lock.exec('PRAGMA busy_timeout = 0');
    lock.exec('BEGIN IMMEDIATE');
  } catch (error) {
    lock?.close();
    if (error instanceof SqliteStoreError) throw error;
    throw refusal(file, error);
  }
  const held = lock;
  return { release: () => held.close() };
}

function refusal(file: string, error: unknown): SqliteStoreError {
  if (isDriverError(error, resultCode.busy)) {
    return new SqliteStoreError(
      'store-in-use',
      `Another server has the data file ${file} open: stop that one first, or use another file.`,
      { cause: error },
    );
  }
  return new SqliteStoreError(
    'store-cannot-open',
    `The lock file ${file}${lockSuffix} cannot be opened or locked: see that the folder can be written, and that the file is not another program's.`,
    { cause: error },
  );
}
