import { statSync } from 'node:fs';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkCustomFilters } from '../../domain/declared-fields.ts';
import { storeUnavailable } from '../../domain/errors.ts';
import type { Store } from '../../ports/store.ts';
import { applyPragmas, Connection } from './connection/connection.ts';
import { dataFile } from './connection/data-file.ts';
import { isDriverError, openingError, resultCode } from './connection/errors.ts';
import { LongReads } from './connection/long-reads.ts';
import { WriteQueue } from './connection/write-queue.ts';
import { SqliteEvents } from './events.ts';
import { missingIndexes } from './lists/custom-filters.ts';
import { defaultWriteLimits, type SqliteStoreOptions } from './options.ts';
import { SqlitePostRepository } from './posts.ts';
import type { StoreParts } from './repository.ts';
import { migrate } from './schema/migration.ts';
import { checkSchema, checkVersion, schemaVersion } from './schema/schema.ts';
import { SqliteUserRepository } from './users.ts';

type Open = (file: string, options?: DatabaseSyncOptions) => DatabaseSync;

/** How long the opening waits before it tries a lock again, in milliseconds. */
const retryMs = 20;

/** Opens a store with a driver that tests can make fail. */
export function openStore(options: SqliteStoreOptions, open: Open): Store {
  const { path, logger, customFilters } = options;
  if (customFilters !== undefined) checkCustomFilters(customFilters);
  const limits = { ...defaultWriteLimits, ...options.writes };
  const file = dataFile(path);
  const connection = whenFree(limits.busyMs, file, () => openFile(file, options, open));
  const writes = new WriteQueue(connection, limits, () => checkVersion(connection, file), logger);
  // Read-only, so that it makes no new file where the file was moved away.
  const reads = new LongReads(
    connection,
    () => new Connection(() => open(file, { readOnly: true })),
  );
  const events = new SqliteEvents(connection);
  return storeOf(file, { connection, reads, writes, events, customFilters: customFilters ?? {} });
}

/** Tries again while another process has the lock: the process waits, as it serves nothing yet. */
function whenFree(busyMs: number, file: string, open: () => Connection): Connection {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const end = performance.now() + busyMs; ; Atomics.wait(never, 0, 0, retryMs)) {
    try {
      return open();
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      if (!isBusy || performance.now() > end) throw openingError(file, error);
    }
  }
}

/** Opens a data file and brings it to what this version, with these custom filters, needs. */
function openFile(
  file: string,
  { customFilters = {}, logger }: SqliteStoreOptions,
  open: Open,
): Connection {
  let connection: Connection | undefined;
  try {
    const opened = new Connection(() => open(file));
    connection = opened;
    const version = checkSchema(opened, file);
    applyPragmas(opened, file);
    const missing = () => missingIndexes(opened, customFilters);
    if (version === schemaVersion && missing().length === 0) return opened;
    opened.transaction('IMMEDIATE', () => {
      // Another process may have migrated the file since.
      migrate(opened, file, logger);
      for (const { name, sql } of missing()) {
        logger?.info({ index: name }, 'An index for a filter on a custom field is being made.');
        opened.exec(sql);
      }
    });
    return opened;
  } catch (error) {
    connection?.close();
    throw error;
  }
}

/** As much as a long post has: less would find its space where a record finds none. */
const tried = 'x'.repeat(64 * 1024);

/** Writes something and takes it away again. */
function tryWriting(connection: Connection): void {
  connection.run('INSERT INTO claims VALUES (?, ?, ?, ?, ?)', '', '', '', 0, tried);
  connection.run("DELETE FROM claims WHERE kind = ''");
}

/** Keeps records in an SQLite file: one connection, and a queue for all that writes. */
function storeOf(file: string, parts: StoreParts): Store {
  const { connection, reads, writes } = parts;
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    await writes.close();
    await nextTurn(); // Settle pending writes before close() resolves.
    await reads.close();
    connection.close();
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  const users = new SqliteUserRepository(parts);
  const posts = new SqlitePostRepository(parts);
  return {
    users,
    posts,
    transfer: { users, posts },
    events: parts.events,
    customFilters: parts.customFilters,
    /**
     * Waits as a write does, for the writes before it and for another process's lock, but writes
     * nothing, unless the disk was full. Then it looks for the file.
     */
    async ready() {
      await writes.add(() => {
        if (writes.isDiskFull) tryWriting(connection);
        else connection.get('SELECT 1 FROM users LIMIT 1');
      });
      // Writes to a file that was moved or deleted would be lost to the next start.
      if (statSync(file, { throwIfNoEntry: false })?.ino !== inode) {
        throw storeUnavailable('none', new Error(`The data file ${file} is not where it was.`));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
