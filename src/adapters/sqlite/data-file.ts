import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Connection } from './connection.ts';
import {
  isDriverError,
  notADatabase,
  openingError,
  resultCode,
  SqliteStoreError,
} from './errors.ts';

/** Bytes of the smallest database (https://www.sqlite.org/fileformat.html#pages). */
const leastPage = 512;

/** What a lock database is called: the data file's name and this. */
const lockSuffix = '-lock';

/**
 * The real path of a data file, whatever links and relative steps lead to it: so two servers on the
 * same file meet at the same lock. The file and its folder are made when they are missing.
 */
export function dataFile(path: string): string {
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw new SqliteStoreError(
      'store-bad-path',
      `The SQLite store needs the path of a file, and ${JSON.stringify(path)} is none; for a store without a file use the memory store.`,
    );
  }
  const file = resolve(path);
  makeFolder(path, dirname(file));
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined) checkFile(path, found);
  try {
    touch(file);
    return realpathSync.native(file);
  } catch (error) {
    throw openingError(path, error);
  }
}

/** Makes a file. One that may only be read fails here; SQLite would open it all the same. */
function touch(file: string): void {
  closeSync(openSync(file, 'a', 0o644));
}

function checkFile(path: string, found: Stats): void {
  if (!found.isFile()) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} is not a file: choose another path.`,
    );
  }
  // The lock and the log go by the file's name: under another name a second server would get in.
  if (found.nlink > 1) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} has ${found.nlink} names (hard links), and a lock for each: remove the others, or use a copy.`,
    );
  }
  // SQLite would take a file that is smaller than any page for an empty one, and write over it.
  if (found.size > 0 && found.size < leastPage) throw notADatabase(path);
}

/**
 * Makes a folder and those above it, and syncs them, so that they outlive a loss of power: SQLite
 * syncs the folder of its file, but not those above.
 *
 * One by one: where nothing can be made (`/proc`), Node's `recursive` never comes to an end.
 */
function makeFolder(path: string, folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(path, above);
  try {
    mkdirSync(folder);
    if (process.platform === 'win32') return;
    const descriptor = openSync(above, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (cause) {
    if (isFolder(folder)) return; // Another process was faster.
    const reason = cause instanceof Error && 'code' in cause ? cause.code : cause;
    const message = `The folder of the data file ${path} is not there and cannot be made (${reason}): choose another path, or allow this one.`;
    throw new SqliteStoreError('store-folder-unusable', message, { cause });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Keeps a second server off a data file, and lets readers in.
 *
 * A write transaction that is never committed is held on a small empty database beside the file.
 * The operating system ends it with the process, however that ends. An exclusive lock on the data
 * file itself would shut out the sqlite3 shell and backups too.
 *
 * The lock file stays when the lock is gone: removing it would race with the next server.
 *
 * @returns a connection that frees the data file when it is closed
 */
export function lockDataFile(file: string): Connection {
  let lock: Connection | undefined;
  try {
    touch(file + lockSuffix);
    lock = new Connection(new DatabaseSync(file + lockSuffix, { timeout: 0 }));
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (cause) {
    lock?.close();
    if (isDriverError(cause, resultCode.busy)) {
      const message = `Another server has the data file ${file} open: stop that one first, or use another file.`;
      throw new SqliteStoreError('store-in-use', message, { cause });
    }
    const message = `The lock file ${file}${lockSuffix} cannot be opened or locked: check that the folder can be written to, and that the file belongs to no other program.`;
    throw new SqliteStoreError('store-cannot-open', message, { cause });
  }
}
