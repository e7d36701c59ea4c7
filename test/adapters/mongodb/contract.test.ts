import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import { describeStore } from '../../../src/testing/index.ts';
import { describeOn, sharedServer, topologies } from '../../support/mongod/shared.ts';

for (const topology of topologies) {
  await describeOn(topology, 'The contract on MongoDB', () => {
    const database = `contract-${randomUUID().slice(0, 8)}`;
    let client: MongoClient;
    let url: string;

    before(async function connect() {
      this.timeout(60_000);
      url = (await sharedServer(topology)).url(database);
      client = await new MongoClient(url).connect();
    });

    after(async () => {
      await client.db(database).dropDatabase();
      await client.close();
    });

    describeStore('mongodb', {
      describe,
      it,
      tornCascades: topology === 'standalone' ? 'it has no transactions' : undefined,
      withoutEvents: topology === 'standalone' ? 'a server alone keeps no log' : undefined,
      // A store of its own for each test, on collections that are emptied and keep their indexes.
      open: async (options) => {
        const db = client.db(database);
        const names = Object.values(collectionNames);
        await Promise.all(names.map((name) => db.collection(name).deleteMany({})));
        return openMongodbStore({ url, ...options });
      },
      another: ({ customFilters }) => openMongodbStore({ url, customFilters }),
      reopen: (_, options) => openMongodbStore({ url, ...options }),
    });
  });
}
