import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import {
  type MongodbStore,
  type MongodbStoreOptions,
  openMongodbStore,
} from '../../../src/adapters/mongodb/index.ts';
import { sharedServer } from '../../support/mongod/shared.ts';

/** Creates a database for a test file, which is dropped at the end, and opens stores on it. */
export function useDatabase() {
  const name = `test-${randomUUID().slice(0, 8)}`;
  const open: MongodbStore[] = [];
  let client: MongoClient;
  let url: string;

  before(async function connect() {
    this.timeout(60_000);
    url = (await sharedServer()).url(name);
    client = await new MongoClient(url).connect();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });

  after(async function drop() {
    // A late command can leave an open transaction, which the server aborts after a minute.
    this.timeout(90_000);
    await client.db(name).dropDatabase();
    await client.close();
  });

  return {
    get url() {
      return url;
    },
    /** The driver's handle of the database. */
    get db() {
      return client.db(name);
    },
    /** Opens a store that is closed after the test. */
    open(options: Partial<MongodbStoreOptions> = {}): MongodbStore {
      const store = openMongodbStore({ url, ...options });
      open.push(store);
      return store;
    },
    /** Deletes all records but keeps the indexes. */
    clear: () => clear(client.db(name)),
  };
}

/** Deletes everything except the declared fields, the indexes, and the documents of the layout and the log. */
export async function clear(db: ReturnType<MongoClient['db']>): Promise<void> {
  const names = ['users', 'posts', 'receipts', 'userTombstones', 'postTombstones'];
  await Promise.all(names.map((one) => db.collection(one).deleteMany({})));
  await db.collection<{ _id: string }>('rostrum').deleteOne({ _id: 'filling' });
}
