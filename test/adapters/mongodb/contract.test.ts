import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { describeStore } from '../../../src/testing/index.ts';
import { describeOnMongodb, sharedServer } from '../../support/mongod/shared.ts';
import { undeclareOthers } from '../../support/undeclare.ts';
import { clear } from './store-on.ts';

await describeOnMongodb('the store contract on MongoDB', () => {
  const database = `contract-${randomUUID().slice(0, 8)}`;
  let client: MongoClient;
  let url: string;

  before(async function connect() {
    this.timeout(60_000);
    url = (await sharedServer()).url(database);
    client = await new MongoClient(url).connect();
  });

  after(async () => {
    await client.db(database).dropDatabase();
    await client.close();
  });

  describeStore('mongodb', {
    describe,
    it,
    // Each test gets a new store. The collections are emptied but keep the indexes that all tests need.
    open: async (options) => {
      await clear(client.db(database));
      await undeclareOthers(openMongodbStore({ url }), options.declaredFields);
      return openMongodbStore({ url, ...options });
    },
    another: (_, options) => openMongodbStore({ url, ...options }),
    reopen: (_, options) => openMongodbStore({ url, ...options }),
  });
});
