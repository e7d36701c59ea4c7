import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import type { StoreOptions } from '../../src/ports/index.ts';
import type { StoreContract } from '../../src/testing/index.ts';
import { clear } from '../adapters/mongodb/store-on.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { describeOnPostgresql, freshDatabase, sharedPostgresql } from '../support/postgresql.ts';
import { openPostgresqlStore } from '../support/postgresql-store.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { collect } from './runner.ts';

const walks = { seeds: Array.from({ length: 30 }, (_, n) => n + 1), calls: 400 };

/** Declares only the random walks of the contract suite, on two handles. */
function itWalks(
  open: StoreContract['open'],
  another: StoreContract['another'],
  withoutEvents?: string,
): void {
  const tests = collect({ open, another, walks, withoutEvents });
  for (const { name, run } of tests) if (name.includes('a random walk')) it(name, run);
}

describe('30 random walks of 400 calls', () => {
  const scope = new AsyncDisposableStack();
  after(() => scope.disposeAsync());

  describe('on SQLite', () => {
    let folder: string;
    let files = 0;
    before(async () => {
      folder = scope.use(await temporaryDirectory()).path;
    });
    const openAt = (n: number, options: StoreOptions) =>
      openSqliteStore({ path: join(folder, `${n}.db`), ...options });
    itWalks(
      (options) => openAt(++files, options),
      (_, options) => openAt(files, options),
    );
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
      itWalks(
        async (options) => {
          await clear(client.db());
          return openMongodbStore({ url, ...options });
        },
        (_, options) => openMongodbStore({ url, ...options }),
      );
    });
  }

  describeOnPostgresql('on the example for PostgreSQL', () => {
    let server: string;
    let connectionString: string;
    before(async () => {
      server = await sharedPostgresql();
    });
    const openAgain = (options: StoreOptions) => openPostgresqlStore({ connectionString }, options);
    itWalks(
      async (options) => {
        connectionString = scope.use(await freshDatabase(server)).url;
        return openAgain(options);
      },
      (_, options) => openAgain(options),
      'the example keeps no log',
    );
  });
});
