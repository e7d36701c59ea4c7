import { findMongod } from './binary.ts';
import { startReplicaSet, type TestServer } from './servers.ts';

let shared: Promise<TestServer> | undefined;
let started: TestServer | undefined;

/**
 * The replica set that all test files of a run share: started when the first one asks, stopped when the run ends.
 * `MONGODB_TEST_URI` names another one.
 */
export function sharedServer(): Promise<TestServer> {
  shared ??= start();
  return shared;
}

/** Describes tests that need a server; skipped (or, with `CI=true`, failed) where there is none. */
export async function describeOnMongodb(title: string, body: () => void): Promise<void> {
  try {
    const hasServer = process.env.MONGODB_TEST_URI || (await findMongod());
    (hasServer ? describe : describe.skip)(title, body);
  } catch (error) {
    // As a test that fails, because what is thrown while a file is loaded is hard to read.
    describe(title, () => {
      it('has a server to run on', () => {
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
      endNow() {},
      async [Symbol.asyncDispose]() {},
    };
  }
  const binary = await findMongod();
  if (binary === undefined) throw new Error('There is no MongoDB server to test on.');
  started = await startReplicaSet(binary, 1);
  return started;
}

// Belongs to the whole run: the first file that imports this one declares the hook. In parallel mode, a worker
// runs several files and stops its server when it exits.
if (process.env.MOCHA_WORKER_ID === undefined) {
  after(async function stopSharedServer() {
    this.timeout(20_000);
    await (await shared)?.[Symbol.asyncDispose]();
  });
} else process.on('exit', () => started?.endNow());
