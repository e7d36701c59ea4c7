import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createMemoryStore } from '../src/adapters/memory/memory-store.ts';
import { openMongodbStore } from '../src/adapters/mongodb/mongodb-store.ts';
import { openSqliteStore } from '../src/adapters/sqlite/sqlite-store.ts';
import type { Owner } from '../src/domain/owner.ts';
import type { Store } from '../src/ports/store.ts';
import { testNotes } from './notes.suite.ts';
import { testStore } from './store.suite.ts';

/** From before the field `quota` was added. */
const old = { id: '1', version: 1, name: 'Ada' } as Owner;
const folder = mkdtempSync(join(tmpdir(), 'hexagon-'));
after(() => rmSync(folder, { recursive: true }));

/** Every store passes the same tests. */
function test(name: string, store: Store): void {
  describe(`the ${name} store`, () => {
    testStore(store);
    testNotes(store);
    if (name !== 'memory')
      it('fills in the default of a new field', async () => {
        await store.transaction(({ owners }) => owners.save(old));
        expect(await store.owners.find(old.id)).to.deep.equal({ ...old, quota: 100 });
      });
    after(() => store.close());
  });
}
test('memory', createMemoryStore());
test('SQLite', await openSqliteStore(join(folder, 'test.db')));

it('the SQLite store keeps its data, and locks out other processes', async () => {
  const path = join(folder, 'reopened.db');
  const first = await openSqliteStore(path);
  const process = new DatabaseSync(path);
  await first.transaction(async ({ owners }) => {
    expect(() => process.exec('BEGIN IMMEDIATE')).to.throw('locked');
    await owners.save(old);
  });
  process.close();
  await first.close();
  const second = await openSqliteStore(path);
  expect(await second.owners.find(old.id)).to.deep.equal({ ...old, quota: 100 });
  await second.close();
});

const { MONGODB_TEST_URI: url, CI } = process.env;
if (url) {
  const database = `test-${randomUUID()}`;
  test('MongoDB', await openMongodbStore(url, database));
  after(async () => {
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  });
} else {
  const skip = CI === 'true' ? it : it.skip;
  skip('the MongoDB store: set MONGODB_TEST_URI to the URL of a replica set to test it', () => {
    throw new Error('In CI, the MongoDB store must be tested.');
  });
}
