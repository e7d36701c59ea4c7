import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { DeclarationError, formatField } from '../../domain/fields/declared-fields.ts';
import { Connection, isSound } from './connection/connection.ts';
import {
  DriverError,
  damaged,
  hasCode,
  openingError,
  SqliteStoreError,
} from './connection/errors.ts';
import { checkWalBelongs, writeTransaction } from './connection/last-commit.ts';
import { identityOf, makePrivateFile, prepareDataFile } from './connection/prepare-data-file.ts';
import { storedFields } from './declared-fields.ts';
import { checkLayout, prepareLayout } from './layout.ts';

interface CopyOptions {
  /** The data file. A server may have it open, and write to it. */
  readonly path: string;
  /** Called with the number of copied pages, and of all pages. If it throws, the copy ends with its error. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface SqliteBackupOptions extends CopyOptions {
  /** The file to write. It is overwritten. */
  readonly to: string;
}

export interface SqliteRestoreOptions extends CopyOptions {
  /** The backup. */
  readonly from: string;
}

/** How long a restore waits for the locks of other processes, and the pause between two tries, in milliseconds. */
const lockMs = 30_000;
const retryMs = 50;

/**
 * Copies a data file, also while other processes write to it: the copy has everything that was acknowledged
 * before the call. Then checks the copy, which blocks the event loop.
 *
 * @throws SqliteStoreError, for example `store-damaged` if the copy fails the check
 */
export async function backupSqlite(options: SqliteBackupOptions): Promise<void> {
  const { path, to, onProgress = () => {} } = options;
  checkExists(path);
  if (identityOf(to) === identityOf(path)) {
    throw new SqliteStoreError('store-bad-path', `${to} is the data file: name another file.`);
  }
  try {
    checkWalBelongs(path);
    // Not read-only: a read-only connection that is the last one leaves `-wal` and `-shm` behind.
    await withConnection(path, async (connection) => {
      checkLayout(connection, path);
      // A read transaction keeps its snapshot. Without it, the backup would start
      // over with every write of another process.
      connection.exec('BEGIN');
      connection.get('SELECT 1 FROM sqlite_schema LIMIT 1');
      makePrivateFile(to);
      await connection.copyTo(to, onProgress).catch((error: unknown) => {
        if (!(error instanceof DriverError)) throw error;
        const reason = (error.cause as Error).message;
        const message = `The backup cannot be written to ${to} (${reason}): check that its disk has space, and that the file does not exist or is an older backup.`;
        throw new SqliteStoreError('store-cannot-open', message, error);
      });
    });
    if (!(await withConnection(to, isSound))) throw damaged(path);
  } catch (error) {
    throw error instanceof DriverError ? openingError(path, error) : error;
  }
}

/**
 * Replaces the contents of a data file with a backup, in one transaction. A server that has the data file open serves
 * the backup from then on. A data file that SQLite cannot open is moved to `FILE.damaged`; then servers that have it
 * open must be restarted.
 *
 * @returns true if the data file was moved
 * @throws SqliteStoreError if the backup or the data file cannot be used
 * @throws DeclarationError if the backup lacks declared fields of the data file
 */
export async function restoreSqlite(options: SqliteRestoreOptions): Promise<boolean> {
  const { path, from, onProgress = () => {} } = options;
  checkExists(from);
  if (identityOf(from) === identityOf(path)) {
    throw new SqliteStoreError('store-bad-path', `${from} is the data file: name a backup.`);
  }
  // A backup can be on a read-only disk, where SQLite cannot create the files beside it.
  const isClosed = !existsSync(`${from}-wal`);
  const location = isClosed ? `${pathToFileURL(from)}?immutable=1` : from;
  return withConnection(location, async (connection) => {
    checkBackup(connection, from);
    const end = performance.now() + lockMs;
    let isMoved = false;
    for (;;) {
      try {
        await withConnection(prepareDataFile(path), (target) => {
          if (checkLayout(target, path)) checkDeclarations(connection, target);
        });
        await connection.copyTo(path, onProgress);
        await withConnection(path, (target) => {
          // The backup can be of an earlier layout.
          writeTransaction(target, () => prepareLayout(target, path));
          return copyWal(target, path, end);
        });
        return isMoved;
      } catch (error) {
        // With another page size, SQLite reports the data file as read-only.
        const isUnusable =
          hasCode(error, 'corrupt', 'notADatabase', 'readOnly') ||
          (error instanceof SqliteStoreError &&
            ['store-not-a-database', 'store-damaged'].includes(error.code));
        if (!isMoved && isUnusable) isMoved = moveAside(path);
        // A lock that another process holds is reported as `busy`, or with result code 0.
        else if (hasCode(error, 'none', 'busy') && performance.now() < end) await pause(retryMs);
        else throw error instanceof DriverError ? openingError(path, error) : error;
      }
    }
  });
}

/** Copies the whole WAL into the file. If the process crashes before that, the next start rejects the WAL. Waits for reads of other programs. */
async function copyWal(connection: Connection, path: string, end: number): Promise<void> {
  for (;;) {
    const sql = 'PRAGMA wal_checkpoint(PASSIVE)';
    const [, inWal, copied] =
      connection.get<[busy: number, inWal: number, copied: number]>(sql) ?? [];
    if (inWal === copied) return;
    if (performance.now() > end) {
      const message = `Another program is reading the data file ${path}, which gets the backup only after that: end the other program, and restore the backup again.`;
      throw new SqliteStoreError('store-in-use', message);
    }
    await pause(retryMs);
  }
}

/** Throws if the backup lacks declared fields of the data file, which servers that have the file open rely on. */
function checkDeclarations(backup: Connection, target: Connection): void {
  const kept = declaredIn(backup);
  const missing = declaredIn(target).filter((field) => !kept.includes(field));
  if (missing.length === 0) return;
  throw new DeclarationError(
    `The backup does not declare ${missing.join(', ')}, as the data file does. Declare it in a copy of the backup (rostrum field add or set) and restore that, or remove it from the data file (rostrum field remove).`,
  );
}

/** Returns the declared fields of a file; none if it is too damaged to tell. */
function declaredIn(connection: Connection): readonly string[] {
  try {
    const fields = storedFields(connection).filter(({ pending }) => pending === 0);
    return fields.map(formatField);
  } catch (error) {
    if (hasCode(error, 'corrupt')) return [];
    throw error;
  }
}

/**
 * Checks all tables and indexes of a data file, which blocks the event loop.
 *
 * @throws SqliteStoreError, for example `store-damaged`
 */
export async function checkSqlite({ path }: { readonly path: string }): Promise<void> {
  checkExists(path);
  try {
    checkWalBelongs(path);
    if (!(await withConnection(path, isSound))) throw damaged(path);
  } catch (error) {
    throw openingError(path, error);
  }
}

function checkExists(file: string): void {
  if (existsSync(file)) return;
  throw new SqliteStoreError('store-cannot-open', `There is no file ${file}.`);
}

async function withConnection<T>(
  location: string,
  use: (connection: Connection) => T | Promise<T>,
): Promise<T> {
  const connection = new Connection(() => new DatabaseSync(location));
  try {
    return await use(connection);
  } finally {
    connection.close();
  }
}

function checkBackup(connection: Connection, from: string): void {
  try {
    if (checkLayout(connection, from) && isSound(connection)) return;
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
  }
  throw new SqliteStoreError('store-damaged', `The backup ${from} is damaged: use another one.`);
}

function moveAside(path: string): true {
  if (existsSync(`${path}.damaged`)) {
    const message = `The data file ${path} cannot be opened, and there is a file ${path}.damaged already: remove one of them.`;
    throw new SqliteStoreError('store-cannot-open', message);
  }
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(path + end)) renameSync(path + end, `${path}.damaged${end}`);
  }
  return true;
}
