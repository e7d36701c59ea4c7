import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { openSqliteStore } from '../../../../src/adapters/sqlite/index.ts';
import type { Store } from '../../../../src/index.ts';

/** The store under the tests that bring none: HTTP_STORE=sqlite takes another one. */
export function openStore(): Store {
  return process.env.HTTP_STORE === 'sqlite' ? openTemporarySqlite() : createMemoryStore();
}

/** A store in a file of its own, which goes when the store is closed. */
function openTemporarySqlite(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-http-'));
  const store = openSqliteStore({ path: join(folder, 'rostrum.db') });
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const { users, posts } = store;
  return { users, posts, ready: () => store.ready(), close, [Symbol.asyncDispose]: close };
}
