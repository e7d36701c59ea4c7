import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import type { Store } from '../../src/index.ts';
import type { StoreOptions } from '../../src/ports/store.ts';

/** Opens a store in a temporary file, which is removed when the store is closed. */
export function openTemporarySqlite(options: StoreOptions = {}): Store {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-sqlite-'));
  const store = openSqliteStore({ path: join(folder, 'rostrum.db'), ...options });
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const { users, posts, transfer, declaredFields } = store;
  const ready = () => store.ready();
  return {
    users,
    posts,
    ...(transfer && { transfer }),
    ...(declaredFields && { declaredFields }),
    undeclare: (...given) => store.undeclare(...given),
    ready,
    close,
    [Symbol.asyncDispose]: close,
  };
}
