// Kills and step-downs of the primary of three nodes while clients write and read through the real
// server, and send again what was answered 503. An election takes two seconds and more here.
//
//   node test/faults/mongodb-failover.ts [--kills 20] [--step-downs 50]

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findMongod } from '../support/mongod/binary.ts';
import { allWell, kill, primaryOf, stepDown } from '../support/mongod/primary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { startServer } from '../support/server.ts';
import { isSafe, Load, type Report } from './load.ts';

export interface FailoverOptions {
  readonly kills: number;
  readonly stepDowns: number;
  /** Told what goes on. */
  readonly say?: (line: string) => void;
}

export interface FailoverReport extends Report {
  readonly kills: number;
  readonly stepDowns: number;
  readonly seconds: number;
}

/** @returns undefined when there is no server to test on */
export async function failOver({
  kills,
  stepDowns,
  say = () => {},
}: FailoverOptions): Promise<FailoverReport | undefined> {
  const binary = await findMongod();
  if (binary === undefined) return undefined;
  const start = performance.now();
  await using set = await startReplicaSet(binary, 3);
  await using server = await startServer('--store', set.url('failover'));
  const load = new Load(server.address);
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
    await stepDown(await primaryOf(set.nodes));
    await progress(load, 20);
    await allWell(set.nodes);
    say(`step-down ${n}: ${load.created} created`);
  }
  await load.stop();
  const report = await load.report();
  return { kills, stepDowns, ...report, seconds: Math.round((performance.now() - start) / 1000) };
}

/**
 * Every record that was answered 201 is there, unchanged, and once; every answer came in time; and
 * no request had to be sent more than twice.
 */
export function isGood(report: FailoverReport): boolean {
  return isSafe(report) && report.slowestMs < 10_000 && report.tries.length <= 2;
}

/** Until so many more records were created. */
async function progress(load: Load, count: number): Promise<void> {
  const until = load.created + count;
  const end = Date.now() + 60_000;
  while (load.created < until) {
    if (Date.now() > end) throw new Error('No record is created any more.');
    await sleep(50);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '20' },
      'step-downs': { type: 'string', default: '50' },
    },
  });
  const report = await failOver({
    kills: Number(values.kills),
    stepDowns: Number(values['step-downs']),
    say: console.log,
  });
  console.log(report);
  if (report === undefined || !isGood(report)) process.exitCode = 1;
}
