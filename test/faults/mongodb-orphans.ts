// The race that could leave a post without its author, on a standalone server and on a replica set,
// with the fence and, half as often, without.
//
//   node test/faults/mongodb-orphans.ts [--rounds 500]

import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet, startStandalone, type TestServer } from '../support/mongod/servers.ts';
import { raceOrphans } from './orphan-race.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '500' } } });
const rounds = Number(values.rounds);
const topologies = {
  standalone: startStandalone,
  'replica set': (binary: string): Promise<TestServer> => startReplicaSet(binary, 1),
};

const binary = await findMongod();
if (binary === undefined) process.exit(1);
for (const [topology, start] of Object.entries(topologies)) {
  await using server = await start(binary);
  const url = server.url('orphans');
  const client = new MongoClient(url);
  const race = { url, db: client.db() };
  const fenced = await raceOrphans({ ...race, rounds });
  await race.db.dropDatabase();
  const unfenced = await raceOrphans({ ...race, rounds: rounds / 2, withoutFence: true });
  await client.close();
  console.dir({ topology, fenced, unfenced }, { depth: 5 });
  const steps = Object.values(fenced.at);
  const failedEverywhere = steps.every(({ before, after }) => before > 0 && after > 0);
  const wrong = fenced.orphans + fenced.orphansAtEnd + fenced.lost;
  // A race that finds nothing without the fence proves nothing.
  if (!failedEverywhere || wrong > 0 || unfenced.orphans === 0) process.exitCode = 1;
}
