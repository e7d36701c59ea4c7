import { existsSync } from 'node:fs';
import { Connection } from './connection.ts';
import { SqliteStoreError } from './errors.ts';
import { checkSchema } from './migrations.ts';

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
 * was acknowledged before, and no half of a change.
 *
 * @throws SqliteStoreError in one sentence that says what to do
 */
export async function backupSqlite({ path, to, onProgress }: SqliteBackupOptions): Promise<void> {
  const sqlite = process.getBuiltinModule('node:sqlite');
  if (sqlite?.backup === undefined) {
    throw new SqliteStoreError(
      'store-driver-missing',
      `This Node (${process.version}) cannot back up an SQLite file: use Node 22.18 or newer.`,
    );
  }
  if (!existsSync(path)) {
    throw new SqliteStoreError('store-cannot-open', `There is no data file ${path}.`);
  }
  let connection: Connection | undefined;
  try {
    const database = new sqlite.DatabaseSync(path, { readOnly: true });
    connection = new Connection(database);
    checkSchema(connection, path);
    // A transaction that has read something stays at that moment. Without it the backup would
    // begin anew with every write of somebody else.
    connection.exec('BEGIN');
    connection.get('SELECT 1 FROM sqlite_schema LIMIT 1');
    await sqlite.backup(database, to, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) =>
        onProgress?.(totalPages - remainingPages, totalPages),
    });
  } catch (cause) {
    if (cause instanceof SqliteStoreError) throw cause;
    const message = `The data file ${path} cannot be copied to ${to} (${reason(cause)}): see that the one is a data file of Rostrum, and that the other can be written.`;
    throw new SqliteStoreError('store-cannot-open', message, { cause });
  } finally {
    connection?.close();
  }
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
