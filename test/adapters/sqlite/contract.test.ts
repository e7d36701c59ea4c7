import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import type { Store } from '../../../src/ports/index.ts';
import { describeStore } from '../../../src/testing/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'rostrum-sqlite-'));
const paths = new WeakMap<Store, string>();
let files = 0;

after(() => rmSync(folder, { recursive: true, force: true }));

describeStore('sqlite', {
  describe,
  it,
  open: (options) => {
    const path = join(folder, `${++files}.db`);
    const store = openSqliteStore({ path, ...options });
    paths.set(store, path);
    return store;
  },
  another: (store) =>
    openSqliteStore({ path: paths.get(store) ?? '', customFilters: store.customFilters }),
  reopen: (store, options) => openSqliteStore({ path: paths.get(store) ?? '', ...options }),
});
