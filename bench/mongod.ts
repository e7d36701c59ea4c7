import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import { findMongod } from '../test/support/mongod/binary.ts';

/** A MongoDB server for the time of a run. */
export interface Mongod extends AsyncDisposable {
  url(database: string): string;
}

/** Unlike those of the tests, it has the memory that a server of a million posts would have. */
const args = [
  ['--wiredTigerCacheSizeGB', '2'],
  ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
].flat();

/** A replica set of one; undefined when there is no MongoDB to be had. */
export async function startMongod(): Promise<Mongod | undefined> {
  const binary = await findMongod();
  if (binary === undefined) return undefined;
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';
  const set = await MongoMemoryReplSet.create({
    binary: { systemBinary: binary },
    replSet: { ip: '127.0.0.1', storageEngine: 'wiredTiger', name: 'bench', count: 1, args },
  });
  return {
    url: (database) => set.getUri(database),
    async [Symbol.asyncDispose]() {
      await set.stop({ doCleanup: true, force: true });
    },
  };
}
