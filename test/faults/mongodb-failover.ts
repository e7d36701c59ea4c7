/**
 * Kills and step-downs of the primary of three nodes while clients write through the real server:
 * `node test/faults/mongodb-failover.ts [KILLS] [STEP-DOWNS]`. Prints a ledger; ends with 1 when a
 * record that was answered 201 is gone, changed or there twice, or when an answer was neither 201
 * nor 503, or took longer than 10 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findMongod } from '../support/mongod/binary.ts';
import { allWell, kill, primaryOf, stepDown } from '../support/mongod/primary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { startServer } from '../support/server.ts';
import { RetryingLoad } from './retrying-load.ts';

const [kills, stepDowns] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 20)];
const binary = await findMongod();
if (binary === undefined) process.exit(1);

const deadline = setTimeout(() => {
  console.error('FAILED: it does not come to an end.');
  process.exit(1);
}, 15 * 60_000);

const from = Date.now();
const set = await startReplicaSet(binary, 3);
const server = await startServer('--store', set.url('failover'));
try {
  const load = new RetryingLoad(server.address);
  load.start(8);
  await progress(load, 50);
  for (let n = 1; n <= kills; n++) {
    const restart = await kill(await primaryOf(set.nodes));
    await primaryOf(set.nodes);
    await progress(load, 20);
    await restart();
    await allWell(set.nodes);
    say(`kill ${n}: ${load.created} created`);
  }
  for (let n = 1; n <= stepDowns; n++) {
    await stepDown(await primaryOf(set.nodes)).catch((error: unknown) =>
      say(`step-down: ${error}`),
    );
    await primaryOf(set.nodes);
    await progress(load, 20);
    say(`step-down ${n}: ${load.created} created`);
  }
  await load.stop();
  const report = await load.report();
  const bad =
    report.lost + report.torn + report.twice + report.odd.length > 0 || report.slowestMs > 10_000;
  say(JSON.stringify({ kills, stepDowns, ...report }));
  say(bad ? 'FAILED' : 'Every record that was answered 201 is there, unchanged, and once.');
  process.exitCode = bad ? 1 : 0;
} finally {
  clearTimeout(deadline);
  await server.stop();
  await set[Symbol.asyncDispose]();
}

/** Until so many more records were created. */
async function progress(load: RetryingLoad, count: number): Promise<void> {
  const until = load.created + count;
  const end = Date.now() + 60_000;
  while (load.created < until) {
    if (Date.now() > end) throw new Error('No record is created any more.');
    await sleep(50);
  }
}

function say(line: string): void {
  console.log(`${((Date.now() - from) / 1000).toFixed(1)} s: ${line}`);
}
