import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { notADatabase, SqliteStoreError } from './errors.ts';

/** Bytes of the smallest database (https://www.sqlite.org/fileformat.html#pages). */
const leastPage = 512;

/** As many links as Linux follows. */
const maxLinks = 40;

/**
 * The one true path of a data file, whatever links and relative steps lead to it; so that two who
 * mean the same file meet at the same lock. Its folder is made when it is missing.
 */
export function dataFile(path: string): string {
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw new SqliteStoreError(
      'store-bad-path',
      `The SQLite store needs the path of a file, and ${JSON.stringify(path)} is none; for a store without a file use the memory store.`,
    );
  }
  try {
    return follow(resolve(path), 0);
  } catch (error) {
    if (error instanceof SqliteStoreError) throw error;
    throw new SqliteStoreError(
      'store-folder-unusable',
      `The folder of the data file ${path} is not there and cannot be made (${reason(error)}): choose another path, or allow this one.`,
      { cause: error },
    );
  }
}

function follow(path: string, links: number): string {
  makeFolder(dirname(path));
  const file = join(realpathSync.native(dirname(path)), basename(path));
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A link may lead to a file that is not made yet, so it is followed step by step.
  if (found?.isSymbolicLink() && links < maxLinks) {
    return follow(resolve(dirname(file), readlinkSync(file)), links + 1);
  }
  if (found !== undefined) checkFile(path, found);
  return file;
}

function checkFile(path: string, found: Stats): void {
  if (!found.isFile()) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} is not a file: choose another path.`,
    );
  }
  // The lock and the log go by the name: under another one, a second server would get in.
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
 * Makes a folder and those above it, and sees to it that they outlive a loss of power: SQLite
 * syncs the folder of its file, and nobody else those above.
 *
 * One by one: where nothing can be made (`/proc`), Node's `recursive` never comes to an end.
 */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (isFolder(folder)) return; // Somebody else was faster.
    throw error;
  }
  if (process.platform !== 'win32') syncFolder(above);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The system's short name of what went wrong: `EACCES`, `ENOTDIR`. */
function reason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
