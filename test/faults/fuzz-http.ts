// Sends 200,000 random requests to the program on SQLite, also to /mcp and with declared fields. Fails on any 5xx, hang or response that violates the
// contract, and if memory grows between the middle and the end.
//
//   node test/faults/fuzz-http.ts [--requests 200000] [--seed N]

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { declaredFields } from '../fuzz/requests.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '200000' }, seed: { type: 'string' } },
});
const requests = Number(values.requests);
const seed = Number(values.seed ?? Math.trunc(Math.random() * 2 ** 31));
const mostGrowthMiB = 50;
/** With fewer requests, memory is still growing from the start at the middle. */
const judgesMemory = requests >= 100_000;

await using folder = await temporaryDirectory();
const fields = Object.entries(declaredFields).flatMap(([collection, types]) =>
  Object.entries(types).map(([name, type]) => `${collection}.${name}:${type}`),
);
await using server = await startServer(
  ...['--store', `sqlite:${join(folder.path, 'rostrum.db')}`],
  ...['--field', fields.join(), '--mcp', '--mcp-deletes'],
);

function residentMiB(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const start = performance.now();
let middle = residentMiB();
const { statuses, failures } = await runFuzz({
  port: Number(new URL(server.address).port),
  requests,
  seed,
  onProgress(made) {
    if (made <= requests / 2) middle = residentMiB();
    if (made % 20_000 === 0) console.log(`${made} requests, ${residentMiB().toFixed(0)} MiB`);
  },
});
const growth = residentMiB() - middle;
const seconds = (performance.now() - start) / 1000;
const alive = (await fetch(`${server.address}/livez`)).status === 200;

for (const failure of failures) console.error(`${failure}\n`);
const serverErrors = Object.keys(statuses).filter((status) => Number(status) >= 500);
console.log({ seed, requests, seconds: Math.round(seconds), statuses });
console.log(
  `memory: ${middle.toFixed(0)} MiB in the middle, ${growth.toFixed(0)} MiB more at the end`,
);
console.log(`${failures.length} failures, ${serverErrors.length} kinds of 5xx, alive: ${alive}`);
const faults = failures.length + serverErrors.length;
const grows = judgesMemory && growth > mostGrowthMiB;
if (faults > 0 || grows || !alive) process.exitCode = 1;
