// The race that could leave a post without its author, on a standalone server and on a replica set,
// with the fence and without.
//
//   node test/faults/mongodb-orphans.ts [--rounds 500]

import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet, startStandalone, type TestServer } from '../support/mongod/servers.ts';
import { type Ledger, raceOrphans } from './orphan-race.ts';

export interface OrphanReport {
  readonly topology: string;
  readonly fenced: Ledger;
  /** Half as many rounds. When it finds nothing either, the race proves nothing. */
  readonly unfenced: Ledger;
}

const topologies = {
  standalone: startStandalone,
  'replica set': (binary: string): Promise<TestServer> => startReplicaSet(binary, 1),
};

export async function raceEverywhere(rounds: number): Promise<OrphanReport[]> {
  const binary = await findMongod();
  if (binary === undefined) return [];
  const reports: OrphanReport[] = [];
  for (const [topology, start] of Object.entries(topologies)) {
    await using server = await start(binary);
    const url = server.url('orphans');
    const client = new MongoClient(url);
    const race = { url, db: client.db() };
    const fenced = await raceOrphans({ ...race, rounds });
    await race.db.dropDatabase();
    const unfenced = await raceOrphans({ ...race, rounds: rounds / 2, withoutFence: true });
    await client.close();
    reports.push({ topology, fenced, unfenced });
  }
  return reports;
}

export function isGood({ fenced, unfenced }: OrphanReport): boolean {
  const steps = Object.values(fenced.at);
  const everywhere = steps.every(({ before, after }) => before > 0 && after > 0);
  return (
    everywhere && fenced.orphans + fenced.orphansAtEnd + fenced.lost === 0 && unfenced.orphans > 0
  );
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '500' } } });
  const reports = await raceEverywhere(Number(values.rounds));
  for (const { topology, ...ledgers } of reports)
    console.dir({ topology, ...ledgers }, { depth: 5 });
  if (reports.length === 0 || !reports.every(isGood)) process.exitCode = 1;
}
