import { createApp, serve } from '../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { type Store, scopes } from '../../src/index.ts';
import { useDatabase } from '../adapters/mongodb/store-on.ts';
import { describeOn } from '../support/mongod/shared.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { coreCalls } from './core-calls.ts';
import { httpCalls } from './http-calls.ts';
import type { Subject } from './run-model.ts';

/** The ways to call: the core itself, and the core through a server on loopback. */
const ways: Record<string, Subject['attach']> = {
  'the core': async (rostrum) => ({ calls: coreCalls(rostrum) }),
  async HTTP(rostrum) {
    const app = createApp(rostrum, {
      ready: async () => {},
      // A client may name itself here: idempotency keys belong to their callers.
      authenticate: (ctx) => ({
        name: `caller ${ctx.get('X-Caller')}`,
        subject: null,
        scopes: new Set(scopes),
      }),
    });
    const server = await serve(app, { port: 0 });
    return { calls: httpCalls(`${server.url}/api/v1`), close: () => server.close() };
  },
};

/** A test for each store and each way to call the core that is on it. */
export async function describeSubjects(
  title: string,
  holds: (subject: Subject, name: string) => Promise<void>,
): Promise<void> {
  function itHolds(store: string, open: () => Store | Promise<Store>): void {
    for (const [way, attach] of Object.entries(ways)) {
      const name = `${store}, by ${way}`;
      it(name, async function run() {
        this.timeout(600_000);
        await holds({ open, attach }, name);
      });
    }
  }

  describe(title, () => {
    itHolds('memory', createMemoryStore);
    itHolds('SQLite', openTemporarySqlite);
  });
  await describeOn('replica set', title, () => {
    const database = useDatabase('replica set');
    itHolds('MongoDB', async () => {
      await database.clear();
      return openMongodbStore({ url: database.url });
    });
  });
}
