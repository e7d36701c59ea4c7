// Causes network outages of each kind between the real server and MongoDB, while clients write, read and retry
// after 503. No record may be lost or duplicated, and no request may hang.
//
//   node test/faults/mongodb-outages.ts [--outages 100]

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findMongod } from '../support/mongod/binary.ts';
import { OutageProxy, outages } from '../support/mongod/outage-proxy.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { quantile } from './clients.ts';
import { isSafe, Load } from './load.ts';

/** The maximum times in milliseconds for a request, and until the API recovers after an outage. */
const bounds = { slowest: 10_000, recovery: 3000 };

const { values } = parseArgs({ options: { outages: { type: 'string', default: '100' } } });
const count = Number(values.outages);

const binary = await findMongod();
if (binary === undefined) process.exit(1);
await using set = await startReplicaSet(binary, 1);
await using proxy = await OutageProxy.start(Number(set.nodes[0]?.port));
const url = `mongodb://127.0.0.1:${proxy.port}/outages?directConnection=true`;
await using server = await startServer('--store', url);
const load = new Load(server.address);
load.start(8);
const recoveries: number[] = [];
for (let n = 0; n < count; n++) {
  await load.progress(10);
  const outage = outages[n % outages.length] ?? 'reset';
  proxy.begin(outage);
  const isLive = (await fetch(`${server.address}/livez`)).ok;
  if (!isLive) throw new Error('/livez is not 200.');
  await sleep(randomInt(50, 3000));
  proxy.end();
  const start = performance.now();
  await until(
    async () => (await fetch(`${server.address}/api/v1/users?limit=1`)).ok,
    'the API serves again',
    30_000,
  );
  recoveries.push(performance.now() - start);
  console.log(`${n + 1}, ${outage}: ${load.created} created`);
}
await load.stop();
const report = await load.report();
const [recoveryP50Ms, recoverySlowestMs] = [quantile(recoveries, 0.5), quantile(recoveries, 1)];
console.log({ outages: count, recoveryP50Ms, recoverySlowestMs, ...report });
const isGood =
  isSafe(report) && report.slowestMs < bounds.slowest && recoverySlowestMs < bounds.recovery;
if (!isGood) process.exitCode = 1;
