import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import type { Store } from '../../src/index.ts';
import type { StoreOptions } from '../../src/ports/store.ts';
import { describeOnMongodb, sharedServer } from './mongod/shared.ts';
import { openTemporarySqlite } from './temporary-sqlite.ts';

export type StoreName = 'memory' | 'SQLite' | 'MongoDB';

/** Whether this run includes slow tests on every store. */
export const isOnAllStores = process.env.TEST_STORES === 'all';

/** Opens an empty store. The caller closes it. */
export type OpenStore = (options?: StoreOptions) => Promise<Store>;

/**
 * Describes the same tests for every store.
 *
 * @param isLong only tests the memory store, except in `npm run test:long` (all-stores.long.ts)
 */
export async function describeOnStores(
  title: string,
  body: (open: OpenStore, name: StoreName) => void,
  isLong = false,
): Promise<void> {
  const named = (name: StoreName, open: OpenStore) => {
    describe(`${title} (${name})`, () => body(open, name));
  };
  named('memory', async (options) => createMemoryStore(options));
  if (isLong && !isOnAllStores) return;
  named('SQLite', async (options) => openTemporarySqlite(options));
  await describeOnMongodb(`${title} (MongoDB)`, () => {
    const databases: string[] = [];

    after(async function drop() {
      this.timeout(20_000);
      for (const url of databases) {
        const client = await new MongoClient(url).connect();
        await client.db().dropDatabase();
        await client.close();
      }
    });

    body(async (options) => {
      const url = (await sharedServer()).url(`test-${randomUUID().slice(0, 8)}`);
      databases.push(url);
      const store = openMongodbStore({ url, ...options });
      await store.ready();
      return store;
    }, 'MongoDB');
  });
}
