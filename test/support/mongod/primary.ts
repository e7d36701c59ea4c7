import { setTimeout as sleep } from 'node:timers/promises';
import type { Mongod } from './mongod.ts';

/** Waits for a primary and returns its node. */
export async function primaryOf(nodes: readonly Mongod[], seconds = 30): Promise<Mongod> {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    for (const node of nodes) {
      const hello = await node.command({ hello: 1 }).catch(() => undefined);
      if (hello?.isWritablePrimary === true) return node;
    }
    await sleep(100);
  }
  throw new Error(`There was no primary for ${seconds} s: ${await statesOf(nodes)}`);
}

/** Returns each node's view of the replica set. */
async function statesOf(nodes: readonly Mongod[]): Promise<string> {
  const states = nodes.map(async (node) => {
    const status = await node.command({ replSetGetStatus: 1 });
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
export async function allWell(nodes: readonly Mongod[], seconds = 180): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    const primary = await primaryOf(nodes, seconds);
    const status = await primary.command({ replSetGetStatus: 1 }).catch(() => undefined);
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
export async function kill(node: Mongod): Promise<() => Promise<void>> {
  await node.kill();
  return () => node.start();
}

/** Makes the primary step down. */
export async function stepDown(node: Mongod): Promise<void> {
  await node.command({ replSetStepDown: 5, secondaryCatchUpPeriodSecs: 5 });
}
