import { rmSync } from 'node:fs';
import { MongoMemoryReplSet, MongoMemoryServer } from 'mongodb-memory-server-core';

/** A server for tests. */
export interface TestServer extends AsyncDisposable {
  /** Returns a connection string for a database. */
  url(database: string): string;
  /** Kills the processes and removes their data synchronously, for use at exit. */
  endNow(): void;
}

// Small, and with a TTL monitor that runs every second instead of every minute.
const args = [
  ['--wiredTigerCacheSizeGB', '0.25'],
  ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ['--setParameter', 'ttlMonitorSleepSecs=1'],
].flat();

const common = { ip: '127.0.0.1', storageEngine: 'wiredTiger', args } as const;

/** Starts a standalone server, which Rostrum rejects. */
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

/** A replica set, with access to its nodes. */
export interface TestReplicaSet extends TestServer {
  readonly nodes: readonly MongoMemoryServer[];
}

/**
 * Starts a replica set with a primary. The third node can be an arbiter.
 *
 * @param more additional arguments for each node
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
      // A killed node has to recover from its journal first.
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

/** Suppresses the warning that the binary is not the newest version. */
function quiet(): void {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = 'false';
}
