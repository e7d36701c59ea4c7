import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { openStore } from '../../../src/adapters/sqlite/store.ts';
import { utf8Bytes } from '../../../src/domain/text.ts';
import type { Store, StoreOptions } from '../../../src/ports/index.ts';
import { describeStore } from '../../../src/testing/index.ts';
import { stepped } from './support/faults.ts';

const folder = mkdtempSync(join(tmpdir(), 'rostrum-sqlite-'));
const paths = new WeakMap<Store, string>();
let files = 0;
let bytes = 0;

after(() => rmSync(folder, { recursive: true, force: true }));

const open = (path: string, options: StoreOptions) => openSqliteStore({ path, ...options });

/** Counts the text that statements return: of an index, too. */
const counted = stepped((_, run) => {
  const result = run();
  if (Array.isArray(result)) {
    for (const value of result.flat()) if (typeof value === 'string') bytes += utf8Bytes(value);
  }
  return result;
});

describeStore('sqlite', {
  describe,
  it,
  open: (options) => {
    const path = join(folder, `${++files}.db`);
    const store = openStore({ path, ...options }, counted);
    paths.set(store, path);
    return store;
  },
  another: (store) => open(paths.get(store) ?? '', store),
  reopen: (store, options) => open(paths.get(store) ?? '', options),
  bytesRead: () => bytes,
});
