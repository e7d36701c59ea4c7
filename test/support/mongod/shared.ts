import { findMongod } from './binary.ts';
import { startReplicaSet, type TestServer } from './servers.ts';

let shared: Promise<TestServer> | undefined;

/**
 * Returns the replica set that all test files of a run share. It is started on first use and stopped at the
 * end of the run. `MONGODB_TEST_URI` replaces it with another server.
 */
export function sharedServer(): Promise<TestServer> {
  shared ??= start();
  return shared;
}

/** Describes tests that need MongoDB. Without a server, they are skipped, or fail if `CI=true`. */
export async function describeOnMongodb(title: string, body: () => void): Promise<void> {
  try {
    const hasServer = process.env.MONGODB_TEST_URI || (await findMongod());
    (hasServer ? describe : describe.skip)(title, body);
  } catch (error) {
    // Fail in a test, because errors thrown while a file is loaded are hard to read.
    describe(title, () => {
      it('has a MongoDB server', () => {
        throw error;
      });
    });
  }
}

async function start(): Promise<TestServer> {
  const uri = process.env.MONGODB_TEST_URI;
  if (uri) {
    return {
      url: (database) => uri.replace(/^([^:]+:\/\/[^/?]+)(\/[^?]*)?/, `$1/${database}`),
      async [Symbol.asyncDispose]() {},
    };
  }
  const binary = await findMongod();
  if (binary === undefined) throw new Error('There is no MongoDB server to test on.');
  return startReplicaSet(binary, 1);
}

// A hook of the whole run, because it is declared at the top level. In parallel mode, a worker runs several
// files, and its server ends when it exits.
if (process.env.MOCHA_WORKER_ID === undefined) {
  after(async function stopSharedServer() {
    this.timeout(20_000);
    await (await shared)?.[Symbol.asyncDispose]();
  });
}
