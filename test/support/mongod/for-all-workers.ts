import { findMongod } from './binary.ts';
import { startReplicaSet, type TestServer } from './servers.ts';

// For a run in several workers: they share the replica set that MONGODB_TEST_URI names.

let server: TestServer | undefined;

export async function mochaGlobalSetup(): Promise<void> {
  if (process.env.MONGODB_TEST_URI) return;
  const binary = await findMongod();
  if (binary === undefined) return;
  server = await startReplicaSet(binary, 1);
  process.env.MONGODB_TEST_URI = server.url('test');
}

export async function mochaGlobalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
}
