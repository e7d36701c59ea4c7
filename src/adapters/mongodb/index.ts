/** The MongoDB store. */
import type { CustomFilters, NoCustomFilters } from '../../domain/declared-fields.ts';
import { type MongodbStore, type MongodbStoreOptions, openStore } from './store.ts';

/**
 * Opens a store in a MongoDB database: on a replica set, a sharded cluster or a standalone server.
 *
 * It returns at once and connects in the background. Until the server is there and the indexes are
 * made, `ready` and every call end in `store-unavailable`, after a short wait.
 *
 * @throws MongodbUrlError for a connection string that is wrong, or that asks for less than what
 * the store promises
 */
export function openMongodbStore<const Filters extends CustomFilters = NoCustomFilters>(
  options: MongodbStoreOptions<Filters>,
): MongodbStore<Filters>;
export function openMongodbStore(options: MongodbStoreOptions): MongodbStore {
  return openStore(options);
}

export { MongodbUrlError } from './connection/client-options.ts';
export { MongodbRefusal } from './schema/refusal.ts';
export type { MongodbStore, MongodbStoreOptions } from './store.ts';
