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
import { type Note, noteDefaults } from '../src/domain/note.ts';
import { type Owner, ownerDefaults } from '../src/domain/owner.ts';
import type { Store } from '../src/ports/store.ts';
import { testNotes } from './notes.suite.ts';
import { errorsOf, testStore } from './store.suite.ts';

/** From before the fields that have defaults were added. */
const old = { id: '1', version: 1 };
const folder = mkdtempSync(join(tmpdir(), 'hexagon-'));
after(() => rmSync(folder, { recursive: true }));

/** Every store passes the same tests. If it can't be opened, a failing test says why. */
async function test(name: string, opening: Promise<Store>): Promise<void> {
  const fail = (error: Error) => void it(`opens the ${name} store`, () => Promise.reject(error));
  const store = await opening.catch(fail);
  if (store === undefined) return;
  describe(`the ${name} store`, () => {
    after(() => store.close());
    testStore(store);
    testNotes(store);
    if (name !== 'memory')
      it('fills in the defaults of new fields', async () => {
        await store.transaction(({ owners }) => owners.save(old as Owner));
        await store.transaction(({ notes }) => notes.save(old as Note));
        expect(await store.owners.find(old.id)).to.deep.equal({ ...old, ...ownerDefaults });
        expect(await store.notes.find(old.id)).to.deep.equal({ ...old, ...noteDefaults });
      });
  });
}
await test('memory', Promise.resolve(createMemoryStore()));
await test('SQLite', openSqliteStore(join(folder, 'test.db')));

it('the SQLite store keeps its data, and locks out other processes', async () => {
  const path = join(folder, 'reopened.db');
  const first = await openSqliteStore(path);
  const process = new DatabaseSync(path);
  await first.transaction(async ({ owners }) => {
    expect(() => process.exec('BEGIN IMMEDIATE')).to.throw('locked');
    await owners.save(old as Owner);
  });
  await first.close();
  const second = await openSqliteStore(path);
  expect(await second.owners.find(old.id)).to.include(old);
  await second.close();
  process.exec('PRAGMA user_version = 99');
  process.close();
  expect(`${await errorsOf(openSqliteStore(path))}`).to.contain('written by a newer version');
});

const { MONGODB_TEST_URI: url, CI } = process.env;
if (url) {
  const database = `test-${randomUUID()}`;
  await test('MongoDB', openMongodbStore(url, database));
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
  after(() => client.db(database).dropDatabase());
} else {
  const skip = CI === 'true' ? it : it.skip;
  skip('the MongoDB store: set MONGODB_TEST_URI to the URL of a replica set', () => expect.fail());
}
