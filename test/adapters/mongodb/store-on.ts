import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import {
  type Internals,
  type MongodbStore,
  openStore,
} from '../../../src/adapters/mongodb/store.ts';
import type { CustomFilters } from '../../../src/domain/declared-fields.ts';
import type { Topology } from '../../support/mongod/shared.ts';
import { sharedServer } from '../../support/mongod/shared.ts';

/** A database of its own for a test file, gone when it is done; and stores on it. */
export function useDatabase(topology: Topology) {
  const name = `test-${randomUUID().slice(0, 8)}`;
  const open: MongodbStore[] = [];
  let client: MongoClient;
  let url: string;

  before(async function connect() {
    this.timeout(60_000);
    url = (await sharedServer(topology)).url(name);
    client = await new MongoClient(url).connect();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });

  after(async () => {
    await client.db(name).dropDatabase();
    await client.close();
  });

  return {
    get url() {
      return url;
    },
    /** The database as the driver shows it. */
    get db() {
      return client.db(name);
    },
    /** A store that is closed after the test. */
    open(internals?: Internals, customFilters?: CustomFilters): MongodbStore {
      const store = openStore({ url, customFilters }, internals);
      open.push(store);
      return store;
    },
    async clear() {
      const names = Object.values(collectionNames);
      const collections = names.map((one) => client.db(name).collection(one));
      await Promise.all(collections.map((collection) => collection.deleteMany({})));
    },
  };
}
