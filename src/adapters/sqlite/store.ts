import { DatabaseSync } from 'node:sqlite';
import { checkDeclaredFields, type DeclaredFields } from '../../domain/fields/declared-fields.ts';
import { checkOptions } from '../../domain/options.ts';
import { safeLogger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import { applyPragmas, Connection } from './connection/connection.ts';
import { DataFile } from './connection/data-file.ts';
import { openingError } from './connection/errors.ts';
import { checkWalBelongs, writeTransaction } from './connection/last-commit.ts';
import { prepareDataFile } from './connection/prepare-data-file.ts';
import { WriteQueue, writeLimits } from './connection/write-queue.ts';
import { declareFields, removeField } from './declared-fields.ts';
import { SqliteEvents } from './events.ts';
import { checkLayout, newestLayout, prepareLayout } from './layout.ts';
import { ListReader } from './lists/list-reader.ts';
import type { SqliteStoreOptions } from './options.ts';
import { SqlitePostRepository, SqliteUserRepository } from './repository.ts';

type Driver = (file: string, options: { timeout: number; readOnly?: boolean }) => DatabaseSync;

const nodeSqlite: Driver = (file, options) => new DatabaseSync(file, options);

/**
 * @param driver replaces the default driver in tests. Lists then use it too, without a worker.
 * @param limits replaces the default limits in tests
 */
export function openStore(
  options: SqliteStoreOptions,
  { driver = nodeSqlite, limits = writeLimits } = {},
): Store {
  checkOptions(options, ['path', 'declaredFields', 'logger']);
  const { declaredFields = {} } = options;
  checkDeclaredFields(declaredFields);
  const logger = safeLogger(options.logger);
  const path = prepareDataFile(options.path);
  const [connection, declared] = openConnection(path, driver, declaredFields, limits.busyMs);
  const file = new DataFile(path, connection, logger);
  const writes = new WriteQueue(file, limits);
  const lists = new ListReader(file, driver === nodeSqlite);
  const parts = { file, writes, lists, events: new SqliteEvents(file) };
  const users = new SqliteUserRepository(parts, 'users');
  const posts = new SqlitePostRepository(parts, 'posts');
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    file.rejectCalls();
    await writes.close();
    await lists.close();
    file.close();
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  const setFilling = (sql: string) => writes.add(() => connection.exec(sql));
  return {
    users,
    posts,
    transfer: {
      users,
      posts,
      begin: () => setFilling("INSERT OR IGNORE INTO meta VALUES ('filling', '')"),
      end: () => setFilling("DELETE FROM meta WHERE name = 'filling'"),
      isFilling: () =>
        file.read(() => connection.get("SELECT 1 FROM meta WHERE name = 'filling'") !== undefined),
    },
    events: parts.events,
    declaredFields: declared,
    undeclare: (collection, name) => writes.add(() => removeField(connection, collection, name)),
    ready: () =>
      file.read(() => {
        file.checkUsable();
        writes.checkWritable();
        connection.get('SELECT 1 FROM users LIMIT 1');
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Opens a data file, creates missing tables, migrates an earlier layout and adds declarations.
 *
 * @returns the connection, and all declared fields of the file
 */
function openConnection(
  file: string,
  driver: Driver,
  declaredFields: DeclaredFields,
  timeout: number,
): [Connection, DeclaredFields] {
  let connection: Connection | undefined;
  try {
    checkWalBelongs(file, timeout);
    const opened = new Connection(() => driver(file, { timeout }));
    connection = opened;
    const layout = opened.transaction('DEFERRED', () => checkLayout(opened, file));
    applyPragmas(opened, file, timeout);

    if (layout !== newestLayout) {
      writeTransaction(opened, () => prepareLayout(opened, file));
      // `lastCheckpointedCommit` reads the file without its WAL, so the tables must be in the file itself.
      opened.exec('PRAGMA wal_checkpoint(PASSIVE)');
    }
    const declared = declareFields(opened, declaredFields);
    // SQLite blocks while it waits for other processes' locks. Only opening may block; an open store must not.
    opened.exec('PRAGMA busy_timeout = 0');
    return [opened, declared];
  } catch (error) {
    connection?.close();
    throw openingError(file, error);
  }
}
