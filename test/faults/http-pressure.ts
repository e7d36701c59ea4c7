// Presses the server with what once ended it or switched it off for others, while a client of small
// requests asks 20 times a second: lists of one and of the usual limit, new users, one of them in
// chunks, /livez. That client has to be served as it asked in 98 of 100 cases, and within 2 s. Beside
// clients of pages no POST may fail, its p99 may be twice what it is alone, and many clients have to
// get 90 % of the pages that few get. The server has a heap of 256 MiB and stays under 600 MiB.
//
//   node test/faults/http-pressure.ts [--store memory:] [--only pipelines] [--seconds 10]
//     [--program PATH/main.js, to press another build, such as an older one]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { program, startProgram } from '../support/server.ts';
import { presses, type Target } from './pressure/presses.ts';
import type { Seen } from './pressure/small-client.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory:' },
    only: { type: 'string' },
    program: { type: 'string', default: program },
    seconds: { type: 'string', default: '10' },
  },
});
const smallClient = join(import.meta.dirname, 'pressure/small-client.ts');

/** The p99 of POST when nothing presses the server. */
let aloneP99 = 0;

/** What the server may take of memory, with a heap of 256 MiB. */
const mostMiB = 600;
process.env.NODE_OPTIONS = '--max-old-space-size=256';

/** The most memory that a process had so far, in MiB; 0 where Linux does not tell. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

async function run(name: string, press: (target: Target) => Promise<string>): Promise<string> {
  await using server = await startProgram(values.program, '--store', values.store);
  const { address } = server;
  const sockets: Socket[] = [];
  const open = () => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const child = fork(smallClient, [address]);
  const did = await press({ address, ms: Number(values.seconds) * 1000, open });
  child.send('end');
  const [seen] = (await once(child, 'message')) as [Seen];
  const peakMiB = await peakOf(server.process.pid);
  const { all, failed, slowest, failedPosts, postP99 } = seen;
  for (const socket of sockets) socket.destroy();
  if (name === 'nothing') aloneP99 = postP99;
  const isSlowed = name.includes('pages') && (failedPosts > 0 || postP99 > aloneP99 * 2);
  const isServed = failed <= all / 50 && slowest <= 2000 && !isSlowed && peakMiB < mostMiB;
  if (!isServed) process.exitCode = 1;
  const others = `${failed} of ${all} failed, slowest ${slowest.toFixed(0)} ms, p99 of POST ${postP99} ms; peak ${peakMiB} MiB`;
  return `${isServed ? 'ok' : 'NOT OK'}: ${did}; of others ${others}`;
}

for (const [name, press] of Object.entries(presses)) {
  // First of all, what the others are held against.
  const isWanted = name === 'nothing' || values.only === undefined || name.includes(values.only);
  if (!isWanted) continue;
  console.log(`${name}: ${await run(name, press)}`);
}
