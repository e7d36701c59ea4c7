import { existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { Connection } from './connection/connection.ts';
import { DriverError, SqliteStoreError } from './connection/errors.ts';
import { checkSchema } from './schema/schema.ts';

export interface SqliteBackupOptions {
  /** The data file. A server may have it open, and write to it. */
  readonly path: string;
  /** The file to write. What is in it is overwritten. */
  readonly to: string;
  /** Told how many pages are done, of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Pages that are copied between two reports. */
const pagesAtOnce = 512;

/**
 * Copies a data file as it is at this moment, while others go on writing: with every record that
 * was acknowledged before, and no half of a change. The copy of a file of an earlier version is
 * one, too, and is migrated when a store is opened on it.
 *
 * @throws SqliteStoreError in one sentence that says what to do
 */
export async function backupSqlite({ path, to, onProgress }: SqliteBackupOptions): Promise<void> {
  if (!existsSync(path)) {
    throw new SqliteStoreError('store-cannot-open', `There is no data file ${path}.`);
  }
  let connection: Connection | undefined;
  try {
    // Not read-only, or the last connection to the file would leave its `-wal` and `-shm` behind.
    const database = new DatabaseSync(path);
    connection = new Connection(() => database);
    checkSchema(connection, path);
    // A transaction that has read something stays at that moment. Without it the backup would
    // begin anew with every write of another process.
    connection.exec('BEGIN');
    connection.get('SELECT 1 FROM sqlite_schema LIMIT 1');
    await backup(database, to, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) =>
        onProgress?.(totalPages - remainingPages, totalPages),
    });
  } catch (error) {
    if (error instanceof SqliteStoreError) throw error;
    const cause = error instanceof DriverError ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The data file ${path} cannot be copied to ${to} (${reason}): check that the first is a data file of Rostrum, and that the second can be written.`;
    throw new SqliteStoreError('store-cannot-open', message, { cause: error });
  } finally {
    connection?.close();
  }
}
