import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  mkdirSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { notADatabase, openingError, SqliteStoreError } from './errors.ts';

/** Bytes of the smallest page (https://www.sqlite.org/fileformat.html#pages). */
const minPageBytes = 512;

/** NFS, SMB (three types), AFS, Ceph, Lustre and GPFS, as statfs(2) reports them on Linux. */
const networkFileSystems = [
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x00c36400, 0x0bd00bd0, 0x47504653,
];

/**
 * Returns the absolute path of a data file. Creates the file and its folder if they are missing.
 *
 * @param fileSystemOf replaces statfs(2) in tests
 */
export function prepareDataFile(path: string, fileSystemOf = fileSystemType): string {
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    const message = `The SQLite store needs the path of a file, and ${JSON.stringify(path)} is not one. For a store without a file use the memory store.`;
    throw new SqliteStoreError('store-bad-path', message);
  }
  const file = resolve(path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const found = statSync(file, { throwIfNoEntry: false });
    // SQLite's WAL needs memory that all processes share (https://sqlite.org/wal.html).
    if (networkFileSystems.includes(fileSystemOf(found === undefined ? dirname(file) : file))) {
      const message = `The data file ${path} is on a network file system, where SQLite cannot keep it safe: use a local disk, or MongoDB for several servers.`;
      throw new SqliteStoreError('store-unsafe-settings', message);
    }
    if (found?.isFile() === false) {
      const message = `The data file ${path} is not a file: choose another path.`;
      throw new SqliteStoreError('store-cannot-open', message);
    }
    // SQLite would remove the WAL of an empty file.
    if (!found?.size && statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) {
      const message = `The data file ${path} is missing or empty, but its write-ahead log ${path}-wal is there: put the file back beside it, or remove ${path}-wal and ${path}-shm.`;
      throw new SqliteStoreError('store-damaged', message);
    }
    // SQLite would treat a file smaller than any page as empty, and overwrite it.
    if (found && found.size > 0 && found.size < minPageBytes) throw notADatabase(path);
    // SQLite would also open a file that can only be read.
    if (found) accessSync(file, constants.R_OK | constants.W_OK);
    makePrivateFile(file);
    return file;
  } catch (error) {
    throw openingError(path, error);
  }
}

/**
 * Creates a missing file that only its owner can read; `-wal` and `-shm` get the same mode. An existing file is
 * not even opened: a process that closes a file loses all its locks on the file
 * (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
export function makePrivateFile(file: string): void {
  if (!existsSync(file)) appendFileSync(file, '', { mode: 0o600 });
}

/** Identifies the file behind a path; undefined if there is none. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}

function fileSystemType(path: string): number {
  return process.platform === 'linux' ? statfsSync(path).type : 0;
}
