import type { Logger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import { Connection } from './connection.ts';
import { dataFile } from './data-file.ts';
import { type OpenDatabase, openNodeDatabase } from './database.ts';
import { isDriverError, resultCode } from './driver-error.ts';
import { notADatabase, SqliteStoreError } from './errors.ts';
import { takeLock } from './lock.ts';
import { checkSchema, migrate } from './migrations.ts';
import { applyPragmas, pragma } from './pragmas.ts';
import { SqliteStore } from './store.ts';
import { defaultWriteLimits, type WriteLimits } from './write-queue.ts';

export interface SqliteStoreOptions {
  /** The data file. It and its folder are made when they are missing. */
  readonly path: string;
  readonly logger?: Logger | undefined;
  /** The driver: `node:sqlite` when absent, or `(path) => new BetterSqlite3(path)`. */
  readonly database?: OpenDatabase | undefined;
  readonly writes?: Partial<WriteLimits> | undefined;
}

/**
 * Opens a data file, or makes it.
 *
 * One store has a file at a time; who only reads it (the sqlite3 shell, a backup) is welcome.
 *
 * @throws SqliteStoreError in one sentence that says what to do
 */
export function openSqliteStore({
  path,
  logger,
  database = openNodeDatabase,
  writes,
}: SqliteStoreOptions): Store {
  const file = dataFile(path);
  const lock = takeLock(file, database);
  let connection: Connection | undefined;
  try {
    connection = new Connection(database(file));
    const version = checkSchema(connection, file);
    applyPragmas(connection, file);
    migrate(connection, version);
    checkWritable(connection);
  } catch (error) {
    connection?.close();
    lock.release();
    throw error instanceof SqliteStoreError ? error : refusal(file, error);
  }
  const limits = { ...defaultWriteLimits, ...writes };
  return new SqliteStore({ file, connection, lock, limits, logger });
}

/**
 * SQLite opens a file that it may not write for reading, and says nothing until it has to write:
 * neither does BEGIN IMMEDIATE.
 */
function checkWritable(connection: Connection): void {
  try {
    connection.exec('BEGIN IMMEDIATE');
    connection.exec(`PRAGMA user_version = ${pragma(connection, 'user_version')}`);
    connection.rollBack();
  } catch (error) {
    if (!isDriverError(error, resultCode.busy)) throw error; // Busy: somebody else is writing.
  }
}

function refusal(file: string, cause: unknown): SqliteStoreError {
  if (isDriverError(cause, resultCode.notADatabase)) return notADatabase(file, cause);
  if (isDriverError(cause, resultCode.busy)) {
    const message = `Another program is writing to the data file ${file}: let it finish, and start again.`;
    return new SqliteStoreError('store-in-use', message, { cause });
  }
  const message = `The data file ${file} cannot be opened for reading and writing: see that its permissions allow it, and that its disk is well and not full.`;
  return new SqliteStoreError('store-cannot-open', message, { cause });
}
