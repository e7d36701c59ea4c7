/**
 * The race that could leave a post without its author, on a standalone server and on a replica set:
 * `node test/faults/mongodb-orphans.ts [ROUNDS]`. Ends with 1 when it left one, or lost a post, or
 * when nothing was found with the fence removed (then the race proves nothing).
 */
import { MongoClient } from 'mongodb';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet, startStandalone, type TestServer } from '../support/mongod/servers.ts';
import { type Ledger, raceOrphans } from './orphan-race.ts';

const rounds = Number(process.argv[2] ?? 500);
const binary = await findMongod();
if (binary === undefined) process.exit(1);

let failed = false;
for (const [topology, start] of [
  ['standalone', startStandalone],
  ['replica set', (path: string) => startReplicaSet(path, 1)],
] as const) {
  await using server: TestServer = await start(binary);
  const url = server.url('orphans');
  const client = new MongoClient(url);
  const race = async (title: string, withoutFence: boolean, count: number): Promise<Ledger> => {
    const from = Date.now();
    const ledger = await raceOrphans({ url, db: client.db(), rounds: count, withoutFence });
    const seconds = ((Date.now() - from) / 1000).toFixed(1);
    console.log(`${topology}, ${title}: ${JSON.stringify(ledger)} in ${seconds} s`);
    return ledger;
  };
  const fenced = await race('with the fence', false, rounds);
  const bare = await race('without the fence', true, Math.ceil(rounds / 2));
  await client.close();
  failed ||= fenced.orphans > 0 || fenced.lost > 0 || bare.orphans === 0;
}
console.log(failed ? 'FAILED' : 'No orphan, and no post lost.');
process.exitCode = failed ? 1 : 0;
