import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { notADatabase, openingError, SqliteStoreError } from './errors.ts';

/** Bytes of the smallest database (https://www.sqlite.org/fileformat.html#pages). */
const leastPage = 512;

/** Network file systems, by what statfs(2) calls them on Linux. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
]);

/**
 * The whole path of a data file. Its folder is made when it is missing.
 *
 * The file itself is left to SQLite: a process that closes a file of its own frees every lock that
 * it has on that file (https://sqlite.org/howtocorrupt.html, section 2.2).
 *
 * @param fileSystemOf the type of a folder's file system, as statfs(2) has it
 */
export function dataFile(path: string, fileSystemOf = typeOf): string {
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw new SqliteStoreError(
      'store-bad-path',
      `The SQLite store needs the path of a file, and ${JSON.stringify(path)} is none; for a store without a file use the memory store.`,
    );
  }
  const file = resolve(path);
  makeFolder(path, dirname(file));
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined) checkFile(path, file, found);
    checkFileSystem(path, fileSystemOf(found === undefined ? dirname(file) : file));
    return file;
  } catch (error) {
    throw openingError(path, error);
  }
}

function typeOf(folder: string): number {
  return process.platform === 'linux' ? statfsSync(folder).type : 0;
}

function checkFile(path: string, file: string, found: Stats): void {
  if (!found.isFile()) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} is not a file: choose another path.`,
    );
  }
  // SQLite names its log by the file: writers under two names would overwrite each other's commits
  // (https://sqlite.org/howtocorrupt.html, section 2.5).
  if (found.nlink > 1) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} has ${found.nlink} names (hard links), and a log for each: remove the others, or use a copy.`,
    );
  }
  // SQLite would take a file that is smaller than any page for an empty one, and write over it.
  if (found.size > 0 && found.size < leastPage) throw notADatabase(path);
  // SQLite would open a file that may only be read all the same.
  accessSync(file, constants.R_OK | constants.W_OK);
}

/**
 * Refuses a file system on which the log does not work: it needs memory that all processes share
 * (https://sqlite.org/wal.html: "WAL does not work over a network filesystem").
 */
function checkFileSystem(path: string, type: number): void {
  const name = networkFileSystems.get(type);
  if (name === undefined) return;
  throw new SqliteStoreError(
    'store-unsafe-settings',
    `The data file ${path} is on a network file system (${name}), where SQLite does not keep it whole: use a disk of this machine, or MongoDB for servers on several.`,
  );
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
