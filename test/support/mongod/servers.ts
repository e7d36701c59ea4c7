import { Mongod } from './mongod.ts';
import { primaryOf } from './primary.ts';

/** A server for tests. */
export interface TestServer extends AsyncDisposable {
  /** Returns a connection string for a database. */
  url(database: string): string;
}

// Small, and with a TTL monitor that runs every second instead of every minute.
const args = [
  ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ['--setParameter', 'ttlMonitorSleepSecs=1'],
].flat();
const smallCache = ['--wiredTigerCacheSizeGB', '0.25'];

/** Starts a standalone server, which Rostrum rejects. */
export async function startStandalone(binary: string): Promise<TestServer> {
  const server = await Mongod.start(binary, [...args, ...smallCache]);
  return {
    url: (database) => `mongodb://127.0.0.1:${server.port}/${database}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A replica set, with access to its nodes. */
export interface TestReplicaSet extends TestServer {
  readonly nodes: readonly Mongod[];
}

/**
 * Starts a replica set with a primary. The third node can be an arbiter.
 *
 * @param more additional arguments for each node
 * @param cache the arguments that set the size of each node's cache
 */
export async function startReplicaSet(
  binary: string,
  count: number,
  hasArbiter = false,
  more: readonly string[] = [],
  cache: readonly string[] = smallCache,
): Promise<TestReplicaSet> {
  const all = [...args, ...cache, '--replSet', 'rostrum', ...more];
  const nodes = await Promise.all(Array.from({ length: count }, () => Mongod.start(binary, all)));
  const members = nodes.map(({ port }, n) => ({
    _id: n,
    host: `127.0.0.1:${port}`,
    arbiterOnly: hasArbiter && n === 2,
  }));
  const settings = { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500 };
  await nodes[0]?.command({ replSetInitiate: { _id: 'rostrum', members, settings } });
  await primaryOf(nodes);
  return {
    nodes,
    url: (database) => {
      const hosts = members.map(({ host }) => host).join();
      return `mongodb://${hosts}/${database}?replicaSet=rostrum`;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}
