import { join } from 'node:path';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import type { Store, StoreOptions } from '../../src/ports/index.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { describeOnPostgresql, freshDatabase, sharedPostgresql } from '../support/postgresql.ts';
import { openPostgresqlStore } from '../support/postgresql-store.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { collect } from './runner.ts';

const walks = { seeds: Array.from({ length: 30 }, (_, n) => n + 1), calls: 400 };

/** Declares only the random walks of the contract suite, on two handles. */
function itWalks(
  openAt: (place: number, options: StoreOptions) => Store | Promise<Store>,
  withoutEvents?: string,
): void {
  let opened = 0;
  const tests = collect({
    open: (options) => openAt(++opened, options),
    another: (_, options) => openAt(opened, options),
    ...{ walks, withoutEvents },
  });
  for (const { name, run } of tests) if (name.includes('a random walk')) it(name, run);
}

describe('30 random walks of 400 calls', () => {
  const scope = new AsyncDisposableStack();
  after(() => scope.disposeAsync());

  describe('on SQLite', () => {
    let folder: string;
    before(async () => {
      folder = scope.use(await temporaryDirectory()).path;
    });
    itWalks((n, options) => openSqliteStore({ path: join(folder, `${n}.db`), ...options }));
  });

  for (const count of [1, 3]) {
    describe(`on MongoDB, a replica set of ${count}`, () => {
      let url: (database: string) => string;
      before(async () => {
        const binary = await findMongod();
        if (binary === undefined) throw new Error('There is no MongoDB server to test on.');
        const set = scope.use(await startReplicaSet(binary, count));
        url = (database) => set.url(database);
      });
      itWalks((n, options) => openMongodbStore({ url: url(`walk${n}`), ...options }));
    });
  }

  describeOnPostgresql('on the example for PostgreSQL', () => {
    const urls: string[] = [];
    let server: string;
    before(async () => {
      server = await sharedPostgresql();
    });
    itWalks(async (n, options) => {
      urls[n] ??= scope.use(await freshDatabase(server)).url;
      return openPostgresqlStore({ connectionString: urls[n] }, options);
    }, 'the example keeps no log');
  });
});
