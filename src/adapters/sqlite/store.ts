import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkCustomFilters } from '../../domain/custom-filters.ts';
import { storeUnavailable } from '../../domain/errors.ts';
import type { Store } from '../../ports/store.ts';
import { applyPragmas, Connection } from './connection/connection.ts';
import { dataFile, lockDataFile } from './connection/data-file.ts';
import { isDriverError, openingError, resultCode, translated } from './connection/errors.ts';
import { WriteQueue } from './connection/write-queue.ts';
import { syncOwnIndexes } from './lists/custom-filters.ts';
import { defaultWriteLimits, type SqliteStoreOptions } from './options.ts';
import { SqlitePostRepository } from './posts.ts';
import type { StoreParts } from './repository.ts';
import { migrate } from './schema/migration.ts';
import { checkSchema } from './schema/schema.ts';
import { sqliteTransfer } from './transfer.ts';
import { SqliteUserRepository } from './users.ts';

/** Opens a store with a driver that tests can make fail. */
export function openStore(
  { path, logger, writes, customFilters }: SqliteStoreOptions,
  open: (file: string) => DatabaseSync,
): Store {
  if (customFilters !== undefined) checkCustomFilters(customFilters);
  const file = dataFile(path);
  const lock = lockDataFile(file);
  let connection: Connection | undefined;
  try {
    connection = new Connection(open(file));
    const version = checkSchema(connection, file);
    applyPragmas(connection, file);
    migrate(connection, version, logger);
    syncOwnIndexes(connection, customFilters, logger);
  } catch (error) {
    connection?.close();
    lock.close();
    throw openingError(file, error);
  }
  const writeLimits = { ...defaultWriteLimits, ...writes };
  const queue = new WriteQueue(connection, writeLimits, (err, count) => {
    const isFull = isDriverError(err, resultCode.full);
    const message = isFull
      ? 'The disk is full: writes that need more space are refused.'
      : 'A group of writes could not be committed.';
    logger?.error({ err, writes: count }, message);
  });
  return storeOf(file, { connection, writes: queue, customFilters: customFilters ?? {} }, lock);
}

/** As much as a long post has: less would find its space where a record finds none. */
const tried = 'x'.repeat(64 * 1024);

/**
 * Writes something and takes it away again, in a transaction of its own: one that does not fit would
 * take the other writes of a group with it.
 *
 * @throws RostrumError `store-unavailable`
 */
function tryWriting({ connection, writes }: StoreParts): void {
  try {
    connection.run('BEGIN IMMEDIATE');
    connection.run('INSERT INTO claims VALUES (?, ?, ?, ?, ?)', '', '', '', 0, tried);
    connection.run("DELETE FROM claims WHERE kind = ''");
    connection.run('COMMIT');
  } catch (error) {
    connection.rollBack();
    throw translated(error, 'none');
  }
  writes.foundSpace();
}

/** Keeps records in an SQLite file: one connection, and a queue for all that writes. */
function storeOf(file: string, parts: StoreParts, lock: Connection): Store {
  const { connection, writes } = parts;
  const inode = statSync(file).ino;
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    await writes.close();
    await nextTurn(); // Settle pending writes before close() resolves.
    try {
      connection.close();
    } finally {
      lock.close(); // The lock goes last: the next server finds the file checkpointed.
    }
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  return {
    users: new SqliteUserRepository(parts),
    posts: new SqlitePostRepository(parts),
    transfer: sqliteTransfer(parts),
    /**
     * Waits as a write does, for the writes before it and for another program's lock, but writes
     * nothing, unless the disk was full. Then it looks for the file.
     */
    async ready() {
      await writes.add(() => connection.get('SELECT 1 FROM users LIMIT 1'));
      if (writes.isDiskFull) tryWriting(parts);
      // Writes to a file that was moved or deleted would be lost to the next start.
      if (statSync(file, { throwIfNoEntry: false })?.ino !== inode) {
        throw storeUnavailable('none', new Error(`The data file ${file} is not where it was.`));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
