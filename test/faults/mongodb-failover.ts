// Kills the primary of three nodes or makes it step down, while clients write and read through the real server
// and retry after 503. An election takes at least two seconds. Every acknowledged record must exist once and
// unchanged, every response must arrive in time, and no request may need more than two tries. Four followers
// must receive all acknowledged changes in the same order, and otherwise only changes with an unknown outcome.
//
//   node test/faults/mongodb-failover.ts [--kills 20] [--step-downs 50]

import { parseArgs } from 'node:util';
import { findMongod } from '../support/mongod/binary.ts';
import { allWell, kill, primaryOf, stepDown } from '../support/mongod/primary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { startServer } from '../support/server.ts';
import {
  EventFollower,
  EventLoad,
  endOfEvents,
  isFollowed,
  judge,
  lastEvent,
} from './event-load.ts';
import { isSafe, Load } from './load.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    'step-downs': { type: 'string', default: '50' },
  },
});
const [kills, stepDowns] = [Number(values.kills), Number(values['step-downs'])];

const binary = await findMongod();
if (binary === undefined) process.exit(1);
await using set = await startReplicaSet(binary, 3);
await using server = await startServer('--store', set.url('failover'));
const { address } = server;
const load = new Load(address);
const changer = Object.assign(new EventLoad(), { address });
const begin = await endOfEvents(address);
const followers = [1, 2, 3, 4].map(() => new EventFollower(address, begin));
changer.start(4);
load.start(8);
await load.progress(50);
for (let n = 1; n <= kills; n++) {
  const restart = await kill(await primaryOf(set.nodes));
  await primaryOf(set.nodes);
  await load.progress(20);
  await restart();
  await allWell(set.nodes);
  console.log(`kill ${n}: ${load.created} created`);
}
for (let n = 1; n <= stepDowns; n++) {
  await stepDown(await primaryOf(set.nodes));
  await load.progress(20);
  await allWell(set.nodes);
  console.log(`step-down ${n}: ${load.created} created`);
}
await Promise.all([load.stop(), changer.stop()]);
const report = await load.report();
console.log({ kills, stepDowns, ...report, seconds: Math.round(performance.now() / 1000) });
const last = await lastEvent(address);
await Promise.all(followers.map((follower) => follower.stopBehind(last)));
const created = [...load.ids()].map(([resource, id]) => `created ${resource.slice(0, -1)} ${id} 1`);
const followed = judge([changer], followers, [...created, last]);
console.log({ followers: followers.length, ...followed });
const isGood = isSafe(report) && report.slowestMs < 10_000 && report.mostTries <= 2;
if (!isGood || !isFollowed(followed)) process.exitCode = 1;
