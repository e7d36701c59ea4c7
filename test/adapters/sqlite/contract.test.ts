import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { describeStore } from '../../../src/testing/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'rostrum-sqlite-'));
let files = 0;

after(() => rmSync(folder, { recursive: true, force: true }));

describeStore('sqlite', {
  describe,
  it,
  open: (options) => openSqliteStore({ path: join(folder, `${++files}.db`), ...options }),
});
