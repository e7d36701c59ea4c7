import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import type { StoreOptions } from '../../src/ports/index.ts';
import type { StoreContract } from '../../src/testing/index.ts';
import { clear } from '../adapters/mongodb/store-on.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { openFileStore, openPostgresqlStore } from '../third-party/example-stores.ts';
import {
  describeOnPostgresql,
  freshDatabase,
  sharedPostgresql,
} from '../third-party/postgresql.ts';
import { collect } from './runner.ts';

const walks = { seeds: Array.from({ length: 50 }, (_, n) => n + 1), calls: 400 };

/** Declares only the random walks of the contract suite. */
function itWalks(contract: Omit<StoreContract, 'describe' | 'it' | 'walks'>): void {
  const tests = collect({ ...contract, walks });
  for (const { name, run } of tests) if (name.includes('a random walk')) it(name, run);
}

describe('50 random walks of 400 calls', () => {
  const scope = new AsyncDisposableStack();
  after(() => scope.disposeAsync());

  const folder = mkdtempSync(join(tmpdir(), 'rostrum-walks-'));
  scope.defer(() => rmSync(folder, { recursive: true }));
  let files = 0;

  describe('on SQLite', () => {
    const openAt = (n: number, options: StoreOptions) =>
      openSqliteStore({ path: join(folder, `${n}.db`), ...options });
    itWalks({
      open: (options) => openAt(++files, options),
      another: (_, options) => openAt(files, options),
    });
  });

  describe('on the example in one JSON file', () => {
    itWalks({
      open: (options) => openFileStore(join(folder, `${++files}.json`), options),
      withoutTransfer: 'the file can be copied',
    });
  });

  for (const count of [1, 3]) {
    describe(`on MongoDB, a replica set of ${count}`, () => {
      let url: string;
      let client: MongoClient;
      before(async () => {
        const binary = await findMongod();
        if (binary === undefined) throw new Error('There is no MongoDB server to test on.');
        url = scope.use(await startReplicaSet(binary, count)).url('walks');
        client = await new MongoClient(url).connect();
        scope.defer(() => client.close());
      });
      itWalks({
        open: async (options) => {
          await clear(client.db());
          return openMongodbStore({ url, ...options });
        },
        another: (_, options) => openMongodbStore({ url, ...options }),
      });
    });
  }

  describeOnPostgresql('on the example for PostgreSQL', () => {
    let server: string;
    let connectionString: string;
    before(async () => {
      server = await sharedPostgresql();
    });
    const openAgain = (options: StoreOptions) => openPostgresqlStore({ connectionString }, options);
    itWalks({
      open: async (options) => {
        connectionString = scope.use(await freshDatabase(server)).url;
        return openAgain(options);
      },
      another: (_, options) => openAgain(options),
      withoutEvents: 'the example keeps no log',
    });
  });
});
