import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createMemoryStore } from '../src/adapters/memory/memory-store.ts';
import { openMongodbStore } from '../src/adapters/mongodb/mongodb-store.ts';
import { openSqliteStore } from '../src/adapters/sqlite/sqlite-store.ts';
import { describeStore } from './note-repository.suite.ts';

describeStore('memory', async () => createMemoryStore());
describeStore('SQLite', async () => openSqliteStore(':memory:'));

const { MONGODB_TEST_URI: url, CI } = process.env;
if (url) {
  const database = `test-${randomUUID()}`;
  describeStore('MongoDB', () => openMongodbStore(url, database));
  after(async () => {
    await using client = new MongoClient(url);
    await client.db(database).dropDatabase();
  });
} else {
  const message = 'MongoDB is not tested. Set MONGODB_TEST_URI to the URL of a replica set.';
  if (CI === 'true') throw new Error(message);
  console.warn(message);
}
