import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { storeUnavailable } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { Transfer } from '../../ports/transfer.ts';
import type { UserRepository } from '../../ports/user-repository.ts';
import { applyPragmas, Connection } from './connection.ts';
import { dataFile, lockDataFile } from './data-file.ts';
import { openingError } from './errors.ts';
import { migrate } from './migration.ts';
import { SqlitePostRepository } from './posts.ts';
import { checkSchema } from './schema.ts';
import { sqliteTransfer } from './transfer.ts';
import { SqliteUserRepository } from './users.ts';
import { defaultWriteLimits, type WriteLimits, WriteQueue } from './write-queue.ts';

export interface SqliteStoreOptions extends StoreOptions {
  /** The data file. It and its folder are made when they are missing. */
  readonly path: string;
  /** Told of writes that failed, and how far a migration is. */
  readonly logger?: Logger | undefined;
  readonly writes?: Partial<WriteLimits> | undefined;
}

/**
 * Opens a data file, or makes it, or migrates that of an earlier version.
 *
 * One store has a file at a time; who only reads it (the sqlite3 shell, a backup) is welcome.
 *
 * @throws SqliteStoreError in one sentence that says what to do
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return openStore(options, (file) => new DatabaseSync(file));
}

/** The same, with a driver that can be made to fail. */
export function openStore(
  { path, logger, writes }: SqliteStoreOptions,
  open: (file: string) => DatabaseSync,
): Store {
  const file = dataFile(path);
  const lock = lockDataFile(file);
  let connection: Connection | undefined;
  try {
    connection = new Connection(open(file));
    const version = checkSchema(connection, file);
    applyPragmas(connection, file);
    migrate(connection, version, logger);
  } catch (error) {
    connection?.close();
    lock.close();
    throw openingError(file, error);
  }
  const queue = new WriteQueue(connection, { ...defaultWriteLimits, ...writes }, (err, count) => {
    logger?.error({ err, writes: count }, 'A group of writes could not be committed.');
  });
  return new SqliteStore(file, connection, lock, queue);
}

/** Keeps records in an SQLite file: one connection, and a queue for all that writes. */
class SqliteStore implements Store {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  readonly transfer: Transfer;
  readonly #file: string;
  readonly #inode: number;
  readonly #connection: Connection;
  readonly #lock: Connection;
  readonly #writes: WriteQueue;
  #closed: Promise<void> | undefined;

  constructor(file: string, connection: Connection, lock: Connection, writes: WriteQueue) {
    const parts = { connection, writes };
    this.users = new SqliteUserRepository(parts);
    this.posts = new SqlitePostRepository(parts);
    this.transfer = sqliteTransfer(parts);
    this.#file = file;
    this.#inode = statSync(file).ino;
    this.#connection = connection;
    this.#lock = lock;
    this.#writes = writes;
  }

  /**
   * Writes nothing, but as a write does: it waits for the writes before it, and for whoever else
   * holds the file's lock as long as they would. Then it looks for the file.
   */
  async ready(): Promise<void> {
    await this.#writes.add(() => this.#connection.get('SELECT 1 FROM users LIMIT 1'));
    // A file that was moved or deleted takes every write to where nobody will look for it.
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino !== this.#inode) {
      throw storeUnavailable('none', new Error(`The data file ${this.#file} is not where it was.`));
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The lock goes last: who waits for it finds the file checkpointed and closed. */
  async #close(): Promise<void> {
    await this.#writes.close();
    await nextTurn(); // Settle pending writes before close() resolves.
    try {
      this.#connection.close();
    } finally {
      this.#lock.close();
    }
  }
}
