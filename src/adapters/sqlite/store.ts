import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { storeUnavailable } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Store } from '../../ports/store.ts';
import type { UserRepository } from '../../ports/user-repository.ts';
import type { Connection } from './connection.ts';
import type { Lock } from './lock.ts';
import { SqlitePostRepository } from './post-repository.ts';
import { SqliteUserRepository } from './user-repository.ts';
import { type WriteLimits, WriteQueue } from './write-queue.ts';

export interface SqliteStoreParts {
  readonly file: string;
  /** Opened and ready: its settings made, its schema up to date. */
  readonly connection: Connection;
  readonly lock: Lock;
  readonly limits: WriteLimits;
  readonly logger: Logger | undefined;
}

/** Keeps records in an SQLite file: one connection, and a queue for all that writes. */
export class SqliteStore implements Store {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  readonly #parts: SqliteStoreParts;
  readonly #inode: number;
  readonly #writes: WriteQueue;
  #closed: Promise<void> | undefined;

  constructor(parts: SqliteStoreParts) {
    const { connection, limits, logger } = parts;
    const writes = new WriteQueue(connection, limits, (error, count) => {
      logger?.error({ err: error, writes: count }, 'A group of writes could not be committed.');
    });
    this.users = new SqliteUserRepository({ connection, writes });
    this.posts = new SqlitePostRepository({ connection, writes });
    this.#parts = parts;
    this.#inode = statSync(parts.file).ino;
    this.#writes = writes;
  }

  /**
   * Writes nothing, but as a write does: it waits for the writes before it, and for whoever else
   * holds the file's lock as long as they would. Then it looks for the file.
   */
  async ready(): Promise<void> {
    const { connection, file } = this.#parts;
    await this.#writes.add(() => connection.get('SELECT 1 FROM users LIMIT 1'));
    // A file that was moved or deleted takes every write to where nobody will look for it.
    if (statSync(file, { throwIfNoEntry: false })?.ino !== this.#inode) {
      throw storeUnavailable('none', new Error(`The data file ${file} is not where it was.`));
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
    const { connection, lock } = this.#parts;
    await this.#writes.close();
    await nextTurn(); // Who made a change hears of its end before who closes.
    try {
      connection.close();
    } finally {
      lock.release();
    }
  }
}
