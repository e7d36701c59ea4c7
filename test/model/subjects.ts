import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, serve } from '../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import type { Rostrum, Store } from '../../src/index.ts';
import { coreCalls } from './core-calls.ts';
import { httpCalls } from './http-calls.ts';
import type { Attached, Subject } from './run-model.ts';

/** The ways to call: the core itself, and the core through a server on loopback. */
export const ways: Record<string, Subject['attach']> = {
  async 'the core'(rostrum: Rostrum): Promise<Attached> {
    return { calls: coreCalls(rostrum), async [Symbol.asyncDispose]() {} };
  },

  async HTTP(rostrum: Rostrum): Promise<Attached> {
    const app = createApp(rostrum, { ready: async () => {} });
    const server = await serve(app, { host: '127.0.0.1', port: 0 });
    return { calls: httpCalls(server.url), [Symbol.asyncDispose]: () => server.close() };
  },
};

/** A store in a file of its own, which goes when the store is closed. */
function openTemporarySqlite(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-model-'));
  const store = openSqliteStore({ path: join(folder, 'rostrum.db') });
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const { users, posts } = store;
  return { users, posts, ready: () => store.ready(), close, [Symbol.asyncDispose]: close };
}

export const stores: Record<string, Subject['open']> = {
  memory: createMemoryStore,
  sqlite: openTemporarySqlite,
};
