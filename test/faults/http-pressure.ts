// Runs scenarios that once crashed the server or blocked other clients, while a client with another address sends small
// requests 20 times a second: a list of one, a record, new users (one of them in chunks), and /livez. Of the small
// requests, 98 % must succeed, all within 2 s or the scenario's `slowestMs`. In the scenarios with `p99: 500`, 99 %
// must succeed within 500 ms. The server has a heap of 256 MiB and must stay below 600 MiB. Each scenario has its own
// store, and a server that has answered 2,000 requests. Prints a table about the small requests, in milliseconds, and
// the peak memory of the server.
//
//   node test/faults/http-pressure.ts [--store memory|sqlite|mongodb] [--only 'large;pipelined 10', the beginnings of names] [--seconds 10]
//     [--posts 200000, the number of posts that a list without an index scans]
//     [--program PATH/main.js, to test another build, such as an older one]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { createKey, program, startProgram } from '../support/server.ts';
import { loadContents, post, postContents } from './pressure/contents.ts';
import { type Scenario, scenariosOn } from './pressure/scenarios.ts';
import type { Seen } from './pressure/small-client.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory' },
    only: { type: 'string', default: '' },
    posts: { type: 'string', default: '200000' },
    program: { type: 'string', default: program },
    seconds: { type: 'string', default: '10' },
  },
});
const smallClient = join(import.meta.dirname, 'pressure/small-client.ts');

process.env.NODE_OPTIONS = '--max-old-space-size=256';

// Exit cleanly, which also stops the server.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Returns the peak memory of a process in MiB, or 0 if not on Linux. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

/** Creates an empty store of each kind, with a function to remove it. */
const newStores: Record<string, () => Promise<readonly [url: string, AsyncDisposable?]>> = {
  memory: async () => ['memory:'],
  async sqlite() {
    const folder = await temporaryDirectory();
    return [`sqlite:${join(folder.path, 'rostrum.db')}`, folder];
  },
  async mongodb() {
    const binary = await findMongod();
    if (binary === undefined) throw new Error('There is no MongoDB server to test.');
    const set = await startReplicaSet(binary, 1);
    return [set.url('pressure'), set];
  },
};

function unknownStore(): never {
  throw new Error(`--store is one of ${Object.keys(newStores)}.`);
}
const newStore = newStores[values.store] ?? unknownStore();

/** Sends 2,000 requests, 50 at a time. Requests take twice as long until V8 has optimized the server's code. */
async function warmUp(url: string): Promise<void> {
  const ask = async () => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The warm-up got ${response.status}.`);
    await response.arrayBuffer();
  };
  for (let n = 0; n < 40; n++) await Promise.all(Array.from({ length: 50 }, ask));
}

async function run(scenario: Scenario): Promise<string> {
  const {
    contents,
    callers = 0,
    mostMiB = 600,
    slowestMs = 2000,
    p99: mostP99 = Number.POSITIVE_INFINITY,
  } = scenario;
  await using stack = new AsyncDisposableStack();
  const [url, store] = await newStore();
  stack.use(store);
  const isShared = values.store !== 'memory';
  const loaded = contents && isShared ? await loadContents(url, contents) : undefined;
  const args = ['--store', url, '--mcp', '--trust-proxy', '1']; // Lets clients claim many addresses.
  const tokens: string[] = [];
  if (callers > 0) {
    const keys = join(stack.use(await temporaryDirectory()).path, 'keys');
    args.push('--auth-keys', keys, '--anonymous', 'all');
    for (let n = 0; n < callers; n++)
      tokens.push(await createKey(keys, 'users:read,posts:read:all'));
  }
  const server = stack.use(await startProgram(values.program, ...args));
  const { address } = server;
  const posted = contents && !isShared ? await postContents(address, contents) : undefined;
  const sockets: Socket[] = [];
  const open = () => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const { id } = await post(address, '/users', { name: 'Ann' });
  await warmUp(`${address}/api/v1/users?limit=1`);
  const child = fork(smallClient, [address, id]);
  stack.defer(() => void child.kill());
  await once(child, 'message'); // The client has started.
  const filled = loaded ?? posted ?? { author: '', position: '', posts: [] };
  const did = await scenario.run({
    ...filled,
    address,
    tokens,
    ms: Number(values.seconds) * 1000,
    open,
  });
  child.send('end');
  const [seen] = (await once(child, 'message')) as [Seen];
  const peakMiB = await peakOf(server.process.pid);
  const { all, failed, slowest, p99 } = seen;
  for (const socket of sockets) socket.destroy();
  const { exitCode, signalCode } = server.process;
  if (exitCode !== null || signalCode !== null) throw new Error(`${did}; THE SERVER ENDED`);
  const isServed = failed <= all / 50 && slowest <= slowestMs && p99 <= mostP99;
  const isGood = isServed && peakMiB < mostMiB;
  if (!isGood) process.exitCode = 1;
  const ms = (time: number) => time.toFixed(0);
  const bounds = `${Number.isFinite(mostP99) ? mostP99 : slowestMs} ms, ${mostMiB} MiB`;
  const held = isGood ? 'yes' : 'NO';
  const seenBy = [`${failed} of ${all}`, ms(p99), ms(slowest), peakMiB];
  return [did, ...seenBy, bounds, held, scenario.promise].join(' | ');
}

console.log(
  '| Pressure | Its own requests | Failed | p99 | Slowest | MiB | Bounds | Held | Promise |',
);
console.log('|---|---|---|---|---|---|---|---|---|');

for (const [name, scenario] of Object.entries(scenariosOn(values.store, Number(values.posts)))) {
  // Always run the scenario "nothing", the baseline for the others.
  if (name !== 'nothing' && !values.only.split(';').some((part) => name.startsWith(part))) continue;
  const line = run(scenario).catch((error) => {
    process.exitCode = 1;
    return `${error} | | | | | | NO | ${scenario.promise}`;
  });
  console.log(`| ${name} | ${await line} |`);
}
