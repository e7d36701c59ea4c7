import { MongoClient } from 'mongodb';
import { findMongod } from './binary.ts';
import { startReplicaSet, startStandalone, type TestServer } from './servers.ts';

export type Topology = 'standalone' | 'replica set';

const running = new Map<Topology, Promise<TestServer>>();
const started: TestServer[] = [];

/**
 * A server that all test files of a run share: started when the first one asks, stopped when the
 * run ends. `MONGODB_TEST_URI` names one for the topology that it is of.
 */
export function sharedServer(topology: Topology): Promise<TestServer> {
  let server = running.get(topology);
  if (server === undefined) {
    server = start(topology);
    running.set(topology, server);
  }
  return server;
}

/** Whether there is a server to test on; asked when a test file is loaded. */
async function hasServer(topology: Topology): Promise<boolean> {
  return (await given())?.topology === topology || (await findMongod()) !== undefined;
}

/** Tests that need a server; skipped (or, with `CI=true`, failed) where there is none. */
export async function describeOn(
  topology: Topology,
  title: string,
  body: () => void,
): Promise<void> {
  const named = `${title} (${topology})`;
  try {
    ((await hasServer(topology)) ? describe : describe.skip)(named, body);
  } catch (error) {
    // As a test that fails, because what is thrown while a file is loaded is hard to read.
    describe(named, () => {
      it('has a server to run on', () => {
        throw error;
      });
    });
  }
}

async function start(topology: Topology): Promise<TestServer> {
  const external = await given();
  if (external?.topology === topology) return external.server;
  const binary = await findMongod();
  if (binary === undefined) throw new Error('There is no MongoDB server to test on.');
  const server = await (topology === 'standalone'
    ? startStandalone(binary)
    : startReplicaSet(binary, 1));
  started.push(server);
  return server;
}

let external: Promise<{ topology: Topology; server: TestServer } | undefined> | undefined;

function given(): typeof external & {} {
  external ??= lookAtGiven(process.env.MONGODB_TEST_URI);
  return external;
}

async function lookAtGiven(uri: string | undefined): ReturnType<typeof given> {
  if (!uri) return undefined;
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  try {
    const { setName, msg } = await client.db('admin').command({ hello: 1 });
    return {
      topology: setName === undefined && msg === undefined ? 'standalone' : 'replica set',
      server: {
        url: (database) => uri.replace(/^([^:]+:\/\/[^/?]+)(\/[^?]*)?/, `$1/${database}`),
        processes: [],
        endNow() {},
        async [Symbol.asyncDispose]() {},
      },
    };
  } finally {
    await client.close();
  }
}

// Belongs to the whole run: the first file that imports this one declares the hook. In parallel mode, a worker
// runs several files and stops its servers when it exits.
if (process.env.MOCHA_WORKER_ID === undefined) {
  after(async function stopSharedServers() {
    this.timeout(20_000);
    const servers = await Promise.all(running.values());
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  });
} else {
  process.on('exit', () => {
    for (const server of started) server.endNow();
  });
}
