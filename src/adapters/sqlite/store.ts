import { DatabaseSync } from 'node:sqlite';
import {
  checkDeclaredFields,
  type DeclaredFields,
  fieldsIn,
} from '../../domain/fields/declared-fields.ts';
import { checkOptions } from '../../domain/options.ts';
import { type Logger, safeLogger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import { applyPragmas, Connection, isSound } from './connection/connection.ts';
import { isLogInDoubt, prepareDataFile } from './connection/data-file.ts';
import { openingError, SqliteStoreError } from './connection/errors.ts';
import { OpenFile } from './connection/open-file.ts';
import { WriteQueue } from './connection/write-queue.ts';
import { declareFields, missingFields } from './declared-fields.ts';
import { SqliteEvents } from './events.ts';
import { hasLayout, prepareLayout } from './layout.ts';
import { Lists } from './lists/lists.ts';
import { defaultWriteLimits, type SqliteStoreOptions } from './options.ts';
import { SqlitePostRepository, SqliteUserRepository } from './repositories.ts';

type Driver = (file: string, options: { timeout: number; readOnly?: boolean }) => DatabaseSync;

const nodeSqlite: Driver = (file, options) => new DatabaseSync(file, options);

/** @param driver replaces the default driver in tests. Lists then use it too, without a worker. */
export function openStore(options: SqliteStoreOptions, driver = nodeSqlite): Store {
  checkOptions(options, ['path', 'declaredFields', 'logger', 'writes']);
  const { declaredFields = {} } = options;
  checkDeclaredFields(declaredFields);
  const logger = safeLogger(options.logger);
  const limits = { ...defaultWriteLimits, ...options.writes };
  const path = prepareDataFile(options.path);
  const connection = openConnection(path, driver, declaredFields, logger, limits.busyMs);
  const file = new OpenFile(path, connection, logger);
  const writes = new WriteQueue(file, limits);
  const declared = {
    users: fieldsIn(declaredFields.users),
    posts: fieldsIn(declaredFields.posts),
  };
  const lists = new Lists(file, declared, driver === nodeSqlite);
  const parts = { file, writes, lists, events: new SqliteEvents(file), declared };
  const users = new SqliteUserRepository(parts);
  const posts = new SqlitePostRepository(parts);
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    file.rejectCalls();
    await writes.close();
    await lists.close();
    file.checkpoint();
    connection.close();
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  const changeMark = (sql: string) => writes.add(() => connection.exec(sql));
  return {
    users,
    posts,
    transfer: {
      users,
      posts,
      begin: () => changeMark("INSERT OR IGNORE INTO meta VALUES ('filling', '')"),
      end: () => changeMark("DELETE FROM meta WHERE name = 'filling'"),
      isFilling: () =>
        file.read(() => connection.get("SELECT 1 FROM meta WHERE name = 'filling'") !== undefined),
    },
    events: parts.events,
    declaredFields,
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

/** Opens a data file, creates missing tables and indexes, and migrates an earlier layout. */
function openConnection(
  file: string,
  driver: Driver,
  declaredFields: DeclaredFields,
  logger: Logger,
  timeout: number,
): Connection {
  let connection: Connection | undefined;
  try {
    if (isLogInDoubt(file)) checkLog(file, timeout);
    const opened = new Connection(() => driver(file, { timeout }));
    connection = opened;
    const isPrepared = opened.transaction('DEFERRED', () => hasLayout(opened, file));
    applyPragmas(opened, file);

    if (!isPrepared || missingFields(opened, declaredFields).length > 0) {
      opened.transaction('IMMEDIATE', () => {
        prepareLayout(opened, file);
        declareFields(opened, declaredFields, logger);
      });
    }
    // SQLite blocks while it waits for other processes' locks. Only opening may block; an open store must not.
    opened.exec('PRAGMA busy_timeout = 0');
    return opened;
  } catch (error) {
    connection?.close();
    throw openingError(file, error);
  }
}

/** Read-only: when the last connection that can write closes, SQLite would copy the log into the file. */
function checkLog(file: string, timeout: number): void {
  const connection = new Connection(() => nodeSqlite(file, { readOnly: true, timeout }));
  try {
    if (isSound(connection)) return;
    const message = `The data file ${file} and its log ${file}-wal do not match. If the file is a restored backup, remove ${file}-wal and ${file}-shm; otherwise go back to a backup (rostrum restore).`;
    throw new SqliteStoreError('store-damaged', message);
  } finally {
    connection.close();
  }
}
