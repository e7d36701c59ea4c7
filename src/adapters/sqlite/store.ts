import { DatabaseSync } from 'node:sqlite';
import { checkCustomFilters } from '../../domain/custom-filters.ts';
import type { Post } from '../../domain/post.ts';
import type { User } from '../../domain/user.ts';
import { type Logger, safeLogger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import { applyPragmas, Connection } from './connection/connection.ts';
import { dataFile } from './connection/data-file.ts';
import { hasCode, openingError } from './connection/errors.ts';
import { OpenFile } from './connection/open-file.ts';
import { WriteQueue } from './connection/write-queue.ts';
import { SqliteEvents } from './events.ts';
import { checkLayout, createLayout } from './layout.ts';
import { missingIndexes } from './lists/custom-fields.ts';
import { ListReaders } from './lists/list-readers.ts';
import { defaultWriteLimits, type SqliteStoreOptions } from './options.ts';
import { Records } from './records.ts';
import { SqlitePostRepository } from './repository.ts';
import { SqliteUserRepository } from './users.ts';

type Driver = (file: string) => DatabaseSync;

/** Delay before opening retries a lock, in milliseconds. */
const retryMs = 20;

/** @param driver a driver that tests can make fail; lists are then read with it too, without workers */
export function openStore(options: SqliteStoreOptions, driver?: Driver): Store {
  const { customFilters = {} } = options;
  checkCustomFilters(customFilters);
  const logger = safeLogger(options.logger);
  const limits = { ...defaultWriteLimits, ...options.writes };
  const path = dataFile(options.path);
  const open = driver ?? ((name) => new DatabaseSync(name));
  const connection = whenFree(limits.busyMs, path, () =>
    openConnection(path, () => open(path), { ...options, logger }),
  );
  const file = new OpenFile(path, connection, logger);
  return storeOf(file, new WriteQueue(file, limits), new ListReaders(file, driver === undefined), {
    customFilters,
  });
}

/** Retries while another process holds the lock. It blocks: the process serves nothing yet. */
function whenFree(busyMs: number, file: string, open: () => Connection): Connection {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const end = performance.now() + busyMs; ; Atomics.wait(never, 0, 0, retryMs)) {
    try {
      return open();
    } catch (error) {
      if (!hasCode(error, 'busy') || performance.now() > end) throw openingError(file, error);
    }
  }
}

/** Opens a data file, and makes the tables and indexes that it lacks. */
function openConnection(
  file: string,
  open: () => DatabaseSync,
  { customFilters = {}, logger }: SqliteStoreOptions & { readonly logger: Logger },
): Connection {
  const connection = new Connection(open);
  try {
    const hasLayout = checkLayout(connection, file);
    applyPragmas(connection, file);
    if (hasLayout && missingIndexes(connection, customFilters).size === 0) return connection;
    connection.transaction('IMMEDIATE', () => {
      // Another process may have made them since.
      if (!checkLayout(connection, file)) createLayout(connection);
      for (const [index, sql] of missingIndexes(connection, customFilters)) {
        logger.info({ index }, 'Making an index for a custom field.');
        connection.exec(sql);
      }
    });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** One connection, a queue for everything that writes, and workers for lists. */
function storeOf(
  file: OpenFile,
  writes: WriteQueue,
  lists: ListReaders,
  { customFilters }: Pick<Store, 'customFilters'>,
): Store {
  const { connection } = file;
  const events = new SqliteEvents(file);
  const parts = { file, writes, lists };
  const userRecords = new Records<User>(connection, 'users', events);
  const users = new SqliteUserRepository(parts, userRecords, events);
  const posts = new SqlitePostRepository(parts, new Records<Post>(connection, 'posts', events));
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    file.close();
    await writes.close();
    await lists.close();
    file.checkpoint();
    connection.close();
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  return {
    users,
    posts,
    transfer: {
      users,
      posts,
      begin: () =>
        writes.add(() => void connection.run("INSERT OR IGNORE INTO meta VALUES ('filling', '')")),
      end: () => writes.add(() => void connection.run("DELETE FROM meta WHERE name = 'filling'")),
      isFilling: () =>
        file.read(() => connection.get("SELECT 1 FROM meta WHERE name = 'filling'") !== undefined),
    },
    events,
    customFilters,
    ready: () =>
      file.read(() => {
        file.check();
        writes.checkWritable();
        connection.get('SELECT 1 FROM users LIMIT 1');
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
