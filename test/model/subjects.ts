import { createApp, type RostrumAppOptions, serve } from '../../src/adapters/http/index.ts';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { type Rostrum, scopes } from '../../src/index.ts';
import { useDatabase } from '../adapters/mongodb/store-on.ts';
import { describeOnMongodb } from '../support/mongod/shared.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { coreCalls } from './core-calls.ts';
import { httpCalls } from './http-calls.ts';
import type { Subject } from './lock-step.ts';

/** Starts a server whose clients name themselves, because idempotency keys belong to their callers. */
async function overHttp(rostrum: Rostrum) {
  const authenticate: RostrumAppOptions['authenticate'] = (ctx) => ({
    name: `caller ${ctx.get('X-Caller')}`,
    subject: null,
    scopes: new Set(scopes),
  });
  const server = await serve(createApp(rostrum, { ready: async () => {}, authenticate }), {
    port: 0,
  });
  return { calls: httpCalls(`${server.url}/api/v1`), close: () => server.close() };
}

const onCore = async (rostrum: Rostrum) => ({ calls: coreCalls(rostrum) });

/** Creates a test for each store, and one over HTTP. */
export async function describeSubjects(
  title: string,
  holds: (subject: Subject, name: string) => Promise<void>,
): Promise<void> {
  const itHolds = (name: string, subject: Subject) =>
    it(name, async function run() {
      this.timeout(600_000);
      await holds(subject, name);
    });

  describe(title, () => {
    itHolds('SQLite', { open: openTemporarySqlite, attach: onCore });
    itHolds('SQLite, over HTTP', { open: openTemporarySqlite, attach: overHttp });
  });
  await describeOnMongodb(title, () => {
    const database = useDatabase();
    const open = async () => {
      await database.clear();
      return openMongodbStore({ url: database.url });
    };
    itHolds('MongoDB', { open, attach: onCore });
  });
}
