import { createApp, serve } from '../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import type { Rostrum } from '../../src/index.ts';
import { useDatabase } from '../adapters/mongodb/store-on.ts';
import { describeOn } from '../support/mongod/shared.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { coreCalls } from './core-calls.ts';
import { httpCalls } from './http-calls.ts';
import type { Attached, Subject } from './run-model.ts';

/** The ways to call: the core itself, and the core through a server on loopback. */
const ways: Record<string, Subject['attach']> = {
  async 'the core'(rostrum: Rostrum): Promise<Attached> {
    return { calls: coreCalls(rostrum), async [Symbol.asyncDispose]() {} };
  },

  async HTTP(rostrum: Rostrum): Promise<Attached> {
    const app = createApp(rostrum, { ready: async () => {} });
    const server = await serve(app, { host: '127.0.0.1', port: 0 });
    return { calls: httpCalls(server.url), [Symbol.asyncDispose]: () => server.close() };
  },
};

const stores: Record<string, Subject['open']> = {
  memory: createMemoryStore,
  sqlite: openTemporarySqlite,
};

/** A test for each store and each way to call the core that is on it. */
export async function describeSubjects(
  title: string,
  holds: (open: Subject['open'], attach: Subject['attach'], name: string) => Promise<void>,
): Promise<void> {
  function itHolds(store: string, open: Subject['open']): void {
    for (const [way, attach] of Object.entries(ways)) {
      const name = `${store}, by ${way}`;
      it(name, async function run() {
        this.timeout(600_000);
        await holds(open, attach, name);
      });
    }
  }

  describe(title, () => {
    for (const [store, open] of Object.entries(stores)) itHolds(store, open);
  });
  await describeOn('replica set', title, () => {
    const database = useDatabase('replica set');
    itHolds('mongodb', async () => {
      await database.clear();
      return openMongodbStore({ url: database.url });
    });
  });
}
