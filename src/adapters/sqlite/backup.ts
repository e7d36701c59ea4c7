import { existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { Connection } from './connection/connection.ts';
import { makePrivateFile } from './connection/data-file.ts';
import { DriverError, damaged, hasCode, SqliteStoreError } from './connection/errors.ts';
import { checkLayout } from './layout.ts';

export interface SqliteBackupOptions {
  /** The data file. A server may have it open, and write to it. */
  readonly path: string;
  /** The file to write. What is in it is overwritten. */
  readonly to: string;
  /** Called with how many pages are done, of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Pages that are copied between two reports. */
export const pagesAtOnce = 512;

/**
 * Copies a data file as it is at this moment, while others go on writing: with every record that was
 * acknowledged before, and no half of a change. Then checks the copy, which blocks the event loop.
 *
 * @throws SqliteStoreError in one sentence that says what to do; `store-damaged` when the check fails
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
    checkLayout(connection, path);
    // A transaction that has read something stays at that moment. Without it, the backup would begin
    // anew with every write of another process.
    connection.exec('BEGIN');
    connection.get('SELECT 1 FROM sqlite_schema LIMIT 1');
    makePrivateFile(to);
    await backup(database, to, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) =>
        onProgress?.(totalPages - remainingPages, totalPages),
    });
    checkSound(to, path);
  } catch (error) {
    if (error instanceof SqliteStoreError) throw error;
    if (hasCode(error, 'corrupt', 'notADatabase')) throw damaged(path, error);
    const cause = error instanceof DriverError ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The data file ${path} cannot be copied to ${to} (${reason}): check that the first is a data file of Rostrum, and that the second can be written.`;
    throw new SqliteStoreError('store-cannot-open', message, { cause: error });
  } finally {
    connection?.close();
  }
}

/**
 * Looks through a whole database.
 *
 * @param name of the file that the error is about
 */
function checkSound(file: string, name: string): void {
  const copy = new Connection(() => new DatabaseSync(file));
  try {
    const [fault] = copy.get<[string]>('PRAGMA quick_check(1)') ?? [];
    if (fault !== 'ok') throw damaged(name, fault);
  } finally {
    copy.close();
  }
}
