import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SqliteStoreError } from './errors.ts';

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
  if (found !== undefined && !found.isFile()) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} is not a file: choose another path.`,
    );
  }
  return file;
}

/**
 * Makes a folder and those above it, and sees to it that they outlive a loss of power: SQLite
 * syncs the folder of its file, and nobody else those above.
 */
function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined || process.platform === 'win32') return;
  for (let made = folder; ; made = dirname(made)) {
    syncFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
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
