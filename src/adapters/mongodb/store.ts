import type { CustomFilters } from '../../domain/declared-fields.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { Transfer } from '../../ports/transfer.ts';
import type { Intercept } from './connection/call.ts';
import { readUrl } from './connection/client-options.ts';
import { Connection } from './connection/connection.ts';
import { MongodbEvents } from './events.ts';
import { Fence } from './fence/fence.ts';
import { MongodbPostRepository } from './post-repository.ts';
import { startSweep } from './sweep.ts';
import { createTransfer } from './transfer/transfer.ts';
import { MongodbUserRepository } from './user-repository.ts';

export interface MongodbStoreOptions<Filters extends CustomFilters = CustomFilters>
  extends StoreOptions<Filters> {
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
export interface MongodbStore<Filters extends CustomFilters = CustomFilters>
  extends Store<Filters> {
  readonly transfer: Transfer;
}

/** Opens a store whose steps can be intercepted. */
export function openStore(
  { url, logger, customFilters = {} }: MongodbStoreOptions,
  { intercept = (_step, run) => run() }: Internals = {},
): MongodbStore {
  const connection = new Connection(readUrl(url), logger, intercept, customFilters);
  const fence = new Fence(connection);
  const stopSweep = startSweep(connection);
  const close = (): Promise<void> => {
    stopSweep();
    return connection.close();
  };
  return {
    users: new MongodbUserRepository(connection, fence, customFilters.users),
    posts: new MongodbPostRepository(connection, fence, customFilters.posts),
    transfer: createTransfer(connection),
    events: new MongodbEvents(connection),
    customFilters,
    ready: () => connection.ready(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
