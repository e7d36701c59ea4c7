import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
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
    if (found !== undefined && held.has(realpathSync.native(file))) {
      throw inUse(realpathSync.native(file));
    }
    touch(file);
    const real = realpathSync.native(file);
    // Beside another program's file no lock file shall stay.
    if (!existsSync(real + lockSuffix)) checkHeader(path, real);
    return real;
  } catch (error) {
    throw openingError(path, error);
  }
}

/** Makes a file. One that may only be read fails here; SQLite would open it all the same. */
function touch(file: string): void {
  closeSync(openSync(file, 'a', 0o644));
}

/**
 * The data files that stores of this process have open. They are not touched: whoever closes a file
 * frees every lock that the process has on it (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
const held = new Set<string>();

/** The lock of a data file. */
class DataFileLock extends Connection {
  readonly #file: string;
  #isTaken = false;

  constructor(file: string) {
    super(new DatabaseSync(file + lockSuffix, { timeout: 0 }));
    this.#file = file;
  }

  take(): void {
    this.exec('BEGIN IMMEDIATE');
    held.add(this.#file);
    this.#isTaken = true;
  }

  override close(): void {
    super.close();
    if (this.#isTaken) held.delete(this.#file);
  }
}

function inUse(file: string, cause?: unknown): SqliteStoreError {
  const message = `Another server has the data file ${file} open: stop that one first, or use another file.`;
  return new SqliteStoreError('store-in-use', message, { cause });
}

/** How every SQLite database begins (https://www.sqlite.org/fileformat.html#magic_header_string). */
const header = 'SQLite format 3\0';

/** Refuses what is no database. */
function checkHeader(path: string, file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    const begin = Buffer.alloc(header.length);
    const length = readSync(descriptor, begin);
    if (length > 0 && begin.toString('latin1') !== header) throw notADatabase(path);
  } finally {
    closeSync(descriptor);
  }
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
  let lock: DataFileLock | undefined;
  try {
    touch(file + lockSuffix);
    lock = new DataFileLock(file);
    lock.take();
    return lock;
  } catch (cause) {
    lock?.close();
    if (isDriverError(cause, resultCode.busy)) throw inUse(file, cause);
    const message = `The lock file ${file}${lockSuffix} cannot be opened or locked: check that the folder can be written to, and that the file belongs to no other program.`;
    throw new SqliteStoreError('store-cannot-open', message, { cause });
  }
}
