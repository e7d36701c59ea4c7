import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import type { Store } from '../../src/ports/store.ts';
import { Folder } from '../adapters/sqlite/support/folder.ts';
import { describeOn, sharedServer, type Topology, topologies } from '../support/mongod/shared.ts';
import { failingMemoryStore } from './failing-memory.ts';
import { FailingProxy } from './failing-mongodb.ts';
import { failingDatabase } from './failing-sqlite.ts';
import type { Faults, Side } from './faults.ts';

/** A store that fails where it is told to. */
export interface Subject {
  readonly sides: readonly Side[];
  /** Opens the store; again, on the same data, when it was closed. */
  readonly open: () => Promise<Store>;
  /** Whether what it holds outlives it. */
  readonly lasts: boolean;
  /** Lets what is late happen. */
  release?(): Promise<void>;
}

/** Called in a `describe`, which it cleans up after; what it returns, in the hooks and tests. */
export type MakeSubject = (faults: Faults) => () => Subject;

/** The tests of `body` on every store. */
export async function describeOnEach(
  title: string,
  body: (make: MakeSubject) => void,
): Promise<void> {
  describe(`${title} : memory`, () => body(memory));
  describe(`${title} : SQLite`, () => body(sqlite));
  for (const topology of topologies) {
    await describeOn(topology, `${title}: MongoDB`, () => body(mongodb(topology)));
  }
}

const memory: MakeSubject = (faults) => () => ({
  sides: ['before', 'after'],
  open: async () => failingMemoryStore(faults),
  lasts: false,
});

const sqlite: MakeSubject = (faults) => {
  const folder = new Folder();
  return () => {
    const file = folder.file();
    return {
      sides: ['before', 'after'],
      open: async () => folder.open(file, { database: failingDatabase(faults) }),
      lasts: true,
    };
  };
};

function mongodb(topology: Topology): MakeSubject {
  return (faults) => {
    const database = `idempotency-${randomUUID().slice(0, 8)}`;
    let client: MongoClient;
    let proxy: FailingProxy;

    before(async function start() {
      this.timeout(60_000);
      client = await new MongoClient((await sharedServer(topology)).url(database)).connect();
      const port = client.options.hosts[0]?.port;
      if (port === undefined) throw new Error('The server has no port.');
      proxy = await FailingProxy.start(port, faults);
    });
    after(async () => {
      await proxy[Symbol.asyncDispose]();
      await client.db(database).dropDatabase();
      await client.close();
    });

    // The driver looks for a server again at once, and not half a second after each cut.
    const options = 'directConnection=true&minHeartbeatFrequencyMS=10';
    return () => ({
      sides: ['before', 'after', 'late'],
      open: async () => {
        const url = `mongodb://127.0.0.1:${proxy.port}/${database}?${options}`;
        return openMongodbStore({ url });
      },
      lasts: true,
      release: () => proxy.release(),
    });
  };
}
