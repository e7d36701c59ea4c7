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

/** Network file systems, by their type in statfs(2) on Linux. */
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
 * Returns the whole path of a data file. Makes the file, readable by its owner alone, and its folder when
 * they are missing.
 *
 * @param fileSystemOf returns the type of a file system, as statfs(2) has it
 */
export function dataFile(path: string, fileSystemOf = typeOf): string {
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw new SqliteStoreError(
      'store-bad-path',
      `The SQLite store needs the path of a file, and ${JSON.stringify(path)} is not one. For a store without a file use the memory store.`,
    );
  }
  const file = resolve(path);
  makeFolder(path, dirname(file));
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    checkFileSystem(path, fileSystemOf(found === undefined ? dirname(file) : file));
    if (found === undefined) makePrivateFile(file);
    else checkFile(path, file, found);
    return file;
  } catch (error) {
    throw openingError(path, error);
  }
}

/**
 * Makes an empty file with mode 0600; SQLite gives its `-wal` and `-shm` the same mode. Leaves an existing
 * file alone: a process that opens and closes a file loses every lock that it has on the file
 * (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // EEXIST also for a symbolic link that leads to a file which SQLite is going to make.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Identifies the file behind a path; undefined when there is none. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
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
  // SQLite names its log after the file: writers under two names would overwrite each other's commits
  // (https://sqlite.org/howtocorrupt.html, section 2.5).
  if (found.nlink > 1) {
    throw new SqliteStoreError(
      'store-cannot-open',
      `The data file ${path} has ${found.nlink} names (hard links), and a log for each: remove the others, or use a copy.`,
    );
  }
  // SQLite would take a file that is smaller than any page for an empty one, and write over it.
  if (found.size > 0 && found.size < leastPage) throw notADatabase(path);
  // SQLite would also open a file that can only be read.
  accessSync(file, constants.R_OK | constants.W_OK);
}

/**
 * Throws for a file system on which SQLite's log does not work: all processes have to share memory
 * (https://sqlite.org/wal.html: "WAL does not work over a network filesystem").
 */
function checkFileSystem(path: string, type: number): void {
  const name = networkFileSystems.get(type);
  if (name === undefined) return;
  throw new SqliteStoreError(
    'store-unsafe-settings',
    `The data file ${path} is on a network file system (${name}), where SQLite cannot keep it safe: use a local disk, or MongoDB for several servers.`,
  );
}

/**
 * Makes a folder and its parents, and syncs them, so that they survive a power cut: SQLite syncs the
 * folder of its file, but not the parents.
 *
 * One by one, because Node's `recursive` never returns where nothing can be made (`/proc`).
 */
function makeFolder(path: string, folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(path, parent);
  try {
    mkdirSync(folder);
    if (process.platform === 'win32') return;
    const descriptor = openSync(parent, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (cause) {
    if (isFolder(folder)) return; // Another process was faster.
    const reason = cause instanceof Error && 'code' in cause ? cause.code : cause;
    const message = `The folder of the data file ${path} does not exist and cannot be made (${reason}): choose another path, or change the permissions.`;
    throw new SqliteStoreError('store-folder-unusable', message, { cause });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
