/** The MongoDB store. */
import {
  checkDeclaredFields,
  type DeclaredFields,
  type NoDeclaredFields,
} from '../../domain/fields/declared-fields.ts';
import { checkOptions } from '../../domain/options.ts';
import { type Logger, safeLogger } from '../../ports/logger.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import type { Transfer } from '../../ports/transfer.ts';
import { Connection } from './connection/connection.ts';
import { readUrl } from './connection/connection-string.ts';
import { CreationBatcher } from './creation-batcher.ts';
import { removeField } from './declared-fields.ts';
import { MongodbEvents } from './events.ts';
import { MongodbPostRepository, MongodbUserRepository } from './repository.ts';
import { createTransfer } from './transfer.ts';

export { MongodbUrlError } from './connection/connection-string.ts';
export { MongodbStoreError } from './errors.ts';

export interface MongodbStoreOptions<Declared extends DeclaredFields = DeclaredFields>
  extends StoreOptions<Declared> {
  /**
   * A connection string, `mongodb://…` or `mongodb+srv://…`. Its path names the database, by default
   * `rostrum`.
   */
  readonly url: string;
  /** Receives what the store does and finds: connections, index builds, and faults. */
  readonly logger?: Logger | undefined;
}

/**
 * `close` waits up to 9 s for calls in progress, then ends them. Only the deletion of a user with many posts can last
 * that long.
 */
export interface MongodbStore<Declared extends DeclaredFields = DeclaredFields>
  extends Store<Declared> {
  readonly transfer: Transfer;
}

/**
 * Opens a store in a MongoDB database, on a replica set or a sharded cluster.
 *
 * It returns at once and connects in the background. Until the server responds and the indexes are built,
 * `ready` and every call end in `store-unavailable`, after a short wait.
 *
 * @throws MongodbUrlError for an invalid connection string
 * @throws TypeError or RangeError for invalid options
 */
export function openMongodbStore<const Declared extends DeclaredFields = NoDeclaredFields>(
  options: MongodbStoreOptions<Declared>,
): MongodbStore<Declared>;
export function openMongodbStore(options: MongodbStoreOptions): MongodbStore {
  checkOptions(options, ['url', 'logger', 'declaredFields']);
  const { url, logger, declaredFields = {} } = options;
  checkDeclaredFields(declaredFields);
  const connection = new Connection(readUrl(url), safeLogger(logger), declaredFields);
  const creations = new CreationBatcher(connection);
  const users = new MongodbUserRepository(connection, 'users', creations);
  const posts = new MongodbPostRepository(connection, 'posts', creations);
  const close = () => connection.close();
  return {
    users,
    posts,
    transfer: createTransfer(connection, users, posts),
    events: new MongodbEvents(connection),
    get declaredFields() {
      return connection.declaredFields;
    },
    undeclare: (collection, name) =>
      connection.call((call) => {
        call.outcome = 'unknown';
        return call.run(() => removeField(connection.db, collection, name));
      }),
    ready: () => connection.ready(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
