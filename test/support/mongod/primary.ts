import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { MongoMemoryServer } from 'mongodb-memory-server-core';

/** Waits for a primary and returns its node. */
export async function primaryOf(
  nodes: readonly MongoMemoryServer[],
  seconds = 30,
): Promise<MongoMemoryServer> {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    for (const node of nodes) {
      const hello = await ask(node, { hello: 1 }).catch(() => undefined);
      if (hello?.isWritablePrimary === true) return node;
    }
    await sleep(100);
  }
  throw new Error(`There was no primary for ${seconds} s: ${await statesOf(nodes)}`);
}

/** Returns each node's view of the replica set. */
async function statesOf(nodes: readonly MongoMemoryServer[]): Promise<string> {
  const states = nodes.map(async (node) => {
    const status = await ask(node, { replSetGetStatus: 1 });
    const members = (status.members ?? []) as readonly Record<string, unknown>[];
    return members.map(({ name, stateStr, optime, lastHeartbeatMessage }) => ({
      name,
      stateStr,
      optime,
      lastHeartbeatMessage,
    }));
  });
  const settled = await Promise.allSettled(states);
  return JSON.stringify(settled.map((one) => ('value' in one ? one.value : String(one.reason))));
}

/**
 * Waits until every node is the primary or follows it, because a replica set only tolerates one failure at a
 * time. A killed node briefly reports to be a secondary before it notices that it has writes to roll back. It
 * has recovered once it has a write of the current primary, which takes a second or two, and sometimes more
 * than a minute.
 */
export async function allWell(nodes: readonly MongoMemoryServer[], seconds = 180): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    const primary = await primaryOf(nodes, seconds);
    const status = await ask(primary, { replSetGetStatus: 1 }).catch(() => undefined);
    const members = (status?.members ?? []) as readonly Member[];
    const term = members.find(({ stateStr }) => stateStr === 'PRIMARY')?.optime.t;
    const well = members.filter(
      ({ stateStr, optime }) => /^(PRIMARY|SECONDARY)$/.test(stateStr) && isSame(optime.t, term),
    );
    if (well.length === nodes.length) return;
    await sleep(100);
  }
  throw new Error(`Not all nodes were well for ${seconds} s: ${await statesOf(nodes)}`);
}

/** A member in the response to `replSetGetStatus`. */
interface Member {
  readonly stateStr: string;
  /** The member's last write, with the term of the primary that made it. */
  readonly optime: { readonly t: unknown };
}

function isSame(a: unknown, b: unknown): boolean {
  return b !== undefined && String(a) === String(b);
}

/** Kills a node with SIGKILL, and returns a function that restarts it with its data. */
export async function kill(node: MongoMemoryServer): Promise<() => Promise<void>> {
  const mongod = node.instanceInfo?.instance.mongodProcess;
  if (mongod === undefined) throw new Error('The node does not run.');
  const exit = once(mongod, 'exit');
  mongod.kill('SIGKILL');
  await exit;
  return async () => {
    await node.stop({ doCleanup: false });
    await node.start(true);
  };
}

/** Makes the primary step down. */
export async function stepDown(node: MongoMemoryServer): Promise<void> {
  await ask(node, { replSetStepDown: 5, secondaryCatchUpPeriodSecs: 5 });
}

async function ask(node: MongoMemoryServer, command: object): Promise<Record<string, unknown>> {
  const client = new MongoClient(`mongodb://127.0.0.1:${node.instanceInfo?.port}`, {
    directConnection: true,
    serverSelectionTimeoutMS: 1000,
    connectTimeoutMS: 1000,
    socketTimeoutMS: 10_000,
  });
  try {
    return await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}
