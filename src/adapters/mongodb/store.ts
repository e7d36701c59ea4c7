import type { Logger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import type { Intercept } from './call.ts';
import { readUrl } from './client-options.ts';
import { Connection } from './connection.ts';
import { Fence } from './fence.ts';
import { MongodbPostRepository } from './post-repository.ts';
import { startSweep } from './sweep.ts';
import { MongodbUserRepository } from './user-repository.ts';

export interface MongodbStoreOptions {
  /**
   * A connection string, `mongodb://…` or `mongodb+srv://…`. Its path names the database, `rostrum`
   * when it names none.
   */
  readonly url: string;
  readonly logger?: Logger | undefined;
}

/** What tests may put in; not part of the package. */
export interface Internals {
  readonly intercept?: Intercept;
}

/** `close` waits up to 9 s for calls under way: for all but a large deletion or `load`. */
export type MongodbStore = Store;

/** Opens a store whose steps can be intercepted. */
export function openStore(
  { url, logger }: MongodbStoreOptions,
  { intercept = (_step, run) => run() }: Internals = {},
): MongodbStore {
  const connection = new Connection(readUrl(url), logger, intercept);
  const fence = new Fence(connection.users, connection.posts);
  const stopSweep = startSweep(connection);
  const close = (): Promise<void> => {
    stopSweep();
    return connection.close();
  };
  return {
    users: new MongodbUserRepository(connection, fence),
    posts: new MongodbPostRepository(connection, fence),
    ready: () => connection.ready(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
