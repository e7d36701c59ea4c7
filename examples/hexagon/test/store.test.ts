import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createMemoryStore } from '../src/adapters/memory/memory-store.ts';
import { openMongodbStore } from '../src/adapters/mongodb/mongodb-store.ts';
import { openSqliteStore } from '../src/adapters/sqlite/sqlite-store.ts';
import { describeStore } from './store.suite.ts';

describeStore('memory', async () => createMemoryStore());
describeStore('SQLite', async () => openSqliteStore(':memory:'));

const { MONGODB_TEST_URI: url, CI } = process.env;
if (url) {
  const database = `test-${randomUUID()}`;
  describeStore('MongoDB', () => openMongodbStore(url, database));
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
