import { rmSync } from 'node:fs';
import { MongoMemoryReplSet, MongoMemoryServer } from 'mongodb-memory-server-core';

/** What runs for a test, and its address. */
export interface TestServer extends AsyncDisposable {
  /** A connection string for a database. */
  url(database: string): string;
  /** Kills the processes and removes their data, synchronously, for a process that ends. */
  endNow(): void;
}

// Small, and with a TTL monitor that comes every second and not every minute.
const args = [
  ['--wiredTigerCacheSizeGB', '0.25'],
  ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ['--setParameter', 'ttlMonitorSleepSecs=1'],
].flat();

const common = { ip: '127.0.0.1', storageEngine: 'wiredTiger', args } as const;

/** A server that stands alone, which Rostrum refuses. */
export async function startStandalone(binary: string): Promise<TestServer> {
  quiet();
  const server = await MongoMemoryServer.create({
    binary: { systemBinary: binary },
    instance: common,
  });
  return {
    url: (database) => `mongodb://127.0.0.1:${server.instanceInfo?.port}/${database}`,
    endNow: () => endNow([server]),
    [Symbol.asyncDispose]: async () => {
      await server.stop({ doCleanup: true, force: true });
    },
  };
}

/** A replica set, and its nodes to do harm to. */
export interface TestReplicaSet extends TestServer {
  readonly nodes: readonly MongoMemoryServer[];
}

/**
 * A replica set of so many nodes, with a primary; the third of them an arbiter, if wanted.
 *
 * @param more arguments of each node
 */
export async function startReplicaSet(
  binary: string,
  count: number,
  hasArbiter = false,
  more: readonly string[] = [],
): Promise<TestReplicaSet> {
  quiet();
  const set = await MongoMemoryReplSet.create({
    binary: { systemBinary: binary },
    instanceOpts: Array.from({ length: count }, (_, n) => ({
      // A node that was killed has to read its journal first.
      launchTimeout: 60_000,
      ...(hasArbiter && n === 2 && { replicaMemberConfig: { arbiterOnly: true } }),
    })),
    replSet: {
      ...common,
      args: [...args, ...more],
      count,
      name: 'rostrum',
      configSettings: { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500 },
    },
  });
  return {
    url: (database) => {
      const hosts = set.servers.map((server) => `127.0.0.1:${server.instanceInfo?.port}`);
      return `mongodb://${hosts.join(',')}/${database}?replicaSet=rostrum`;
    },
    endNow: () => endNow(set.servers),
    nodes: set.servers,
    [Symbol.asyncDispose]: async () => {
      await set.stop({ doCleanup: true, force: true });
    },
  };
}

function endNow(servers: readonly MongoMemoryServer[]): void {
  for (const { instanceInfo } of servers) {
    instanceInfo?.instance.mongodProcess?.kill('SIGKILL');
    if (instanceInfo) rmSync(instanceInfo.dbPath, { recursive: true, force: true });
  }
}

/** The binary is what there is; that it is not the newest one is known. */
function quiet(): void {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';
}
