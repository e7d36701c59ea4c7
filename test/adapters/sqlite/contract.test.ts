import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { openStore } from '../../../src/adapters/sqlite/store.ts';
import { utf8Bytes } from '../../../src/domain/records/text.ts';
import type { Store, StoreOptions } from '../../../src/ports/index.ts';
import { describeStore } from '../../../src/testing/index.ts';
import { stepped } from './support/faults.ts';

const folder = mkdtempSync(join(tmpdir(), 'rostrum-sqlite-'));
const paths = new WeakMap<Store, string>();
let files = 0;
let bytes = 0;

after(() => rmSync(folder, { recursive: true, force: true }));

/** Counts the bytes of text that statements return. */
const counted = stepped((_, run) => {
  const result = run();
  if (Array.isArray(result)) {
    for (const value of result.flat()) if (typeof value === 'string') bytes += utf8Bytes(value);
  }
  return result;
});

function pathOf(store: Store): string {
  return paths.get(store) ?? '';
}

function fresh(open: (path: string) => Store): Store {
  const path = join(folder, `${++files}.db`);
  const store = open(path);
  paths.set(store, path);
  return store;
}

const again = (store: Store, options: StoreOptions) =>
  openSqliteStore({ path: pathOf(store), ...options });

describeStore('the SQLite store', {
  describe,
  it,
  open: (options) => fresh((path) => openSqliteStore({ path, ...options })),
  another: again,
  reopen: again,
});

// Counting only works without workers, which have their own driver.
describeStore('the SQLite store without workers', {
  describe,
  it: (title, body) => (/bytes|page/.test(title) ? it(title, body) : undefined),
  open: (options) => fresh((path) => openStore({ path, ...options }, { driver: counted })),
  bytesRead: () => bytes,
});
