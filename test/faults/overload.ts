// Sends ten times as many concurrent requests as give the best throughput, on as many connections. The server
// must serve at least half as many, reject the rest, and respond to probes. Rejected clients retry after
// `Retry-After`.
//
//   node test/faults/overload.ts [--rounds 15] [--only changes]

import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { startServer } from '../support/server.ts';
import { type ClientLoad, type ClientReport, quantile, runClients } from './clients.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    only: { type: 'string' },
    /** Runs only the clients. Used by the child processes. */
    load: { type: 'string' },
  },
});

/** The numbers of clients, of concurrent requests at peak throughput, and of clients that measure. */
const [clients, peakClients, measuringClients] = [2560, 256, 160];
/** The lowest median of all rounds, in percent of the peak. */
const leastGoodput = 50;
const times = { ms: 2500, warmMs: 2000 };

const body = '{"name":"Ann"}';
const lines = (...all: string[]) => `${all.join('\r\n')}\r\nHost: localhost\r\n`;
const json = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;

const loads: Record<string, { readonly store: string; readonly request: string }> = {
  'changes on SQLite': {
    store: 'sqlite:',
    request: `${lines('POST /api/v1/users HTTP/1.1')}${json}\r\n${body}`,
  },
  'pages of 20 on SQLite': {
    store: 'sqlite:',
    request: `${lines('GET /api/v1/users?limit=20 HTTP/1.1')}\r\n`,
  },
  'pages of 20 on memory': {
    store: 'memory:',
    request: `${lines('GET /api/v1/users?limit=20 HTTP/1.1')}\r\n`,
  },
};

/** Determined before this process is pinned. */
const canPin = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

/** Pins the server and its clients to one core each, if there are two. */
function pin(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-acp', String(core), String(pid)]);
}

/**
 * Runs all clients, and measures response times with a few of them in a separate process with higher priority:
 * thousands of clients in one process would measure their own delays too.
 */
async function measured(load: ClientLoad): Promise<ClientReport> {
  const { clients, active = clients } = load;
  const few = (of: number) => Math.round((of * measuringClients) / clients);
  const part = { clients: measuringClients, active: few(active) };
  const rest = { clients: clients - part.clients, active: active - part.active };
  const both = [
    clientProcess({ ...load, ...part }),
    clientProcess({ ...load, ...rest }, constants.priority.PRIORITY_LOW),
  ] as const;
  // Connect first: the server accepts one connection per iteration of the event loop, which takes long under load.
  await Promise.all(both.map(messageOf));
  const [small, large] = await Promise.all([reportOf(both[0]), reportOf(both[1])]);
  return {
    ...small,
    goodput: small.goodput + large.goodput,
    refused: small.refused + large.refused,
    odd: small.odd + large.odd,
  };
}

function clientProcess(load: ClientLoad, priority = 0): ChildProcess {
  const child = fork(import.meta.filename, ['--load', JSON.stringify(load)]);
  setPriority(child.pid ?? 0, priority);
  return child;
}

async function reportOf(child: ChildProcess): Promise<ClientReport> {
  child.send('begin');
  return (await messageOf(child)) as ClientReport;
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process of clients ended early.');
  });
  const [message] = await Promise.race([once(child, 'message'), ended]);
  return message;
}

/** Calls the probes 20 times a second, and returns how many failed and the p99 in milliseconds. */
async function probe(address: string, signal: AbortSignal) {
  const slow: number[] = [];
  let failed = 0;
  for (let n = 0; !signal.aborted; n++) {
    const start = performance.now();
    const path = n % 2 === 0 ? '/livez' : '/readyz';
    const status = await fetch(address + path).then(
      ({ status }) => status,
      () => 0,
    );
    if (status !== 200) failed += 1;
    slow.push(performance.now() - start);
    await sleep(50);
  }
  return { all: slow.length, failed, p99: quantile(slow, 0.99) };
}

/** Returns true if all values are within their limits. */
async function overload(name: string, store: string, request: string): Promise<boolean> {
  await using folder = await temporaryDirectory();
  const url = store === 'memory:' ? store : `${store}${folder.path}/rostrum.db`;
  await using server = await startServer('--store', url);
  pin(server.process.pid ?? 0, 0);
  pin(process.pid, 1);
  const { address } = server;
  const headers = { 'Content-Type': 'application/json' };
  for (let n = 0; n < 100; n++) {
    await fetch(`${address}/api/v1/users`, { method: 'POST', headers, body });
  }
  const load = { port: Number(new URL(address).port), request, ...times };
  const rounds: { peak: ClientReport; over: ClientReport }[] = [];
  const probes: Awaited<ReturnType<typeof probe>>[] = [];
  for (let n = 0; n < Number(values.rounds); n++) {
    const peak = await measured({ ...load, clients, active: peakClients });
    const ended = new AbortController();
    const probing = probe(address, ended.signal);
    const over = await measured({ ...load, clients });
    ended.abort();
    probes.push(await probing);
    rounds.push({ peak, over });
    console.log(`${name}, peak: ${describe(peak)}`);
    console.log(`${name}, overload: ${describe(over)}`);
  }
  const median = (of: (round: (typeof rounds)[number]) => number) => quantile(rounds.map(of), 0.5);
  // Compare within each round, because the machine may be slower in the next one.
  const goodput = median(({ peak, over }) => (over.goodput / peak.goodput) * 100);
  const p99 = median(({ over }) => over.p99);
  const refusedP99 = median(({ over }) => over.refusedP99);
  const failed = probes.reduce((sum, one) => sum + one.failed, 0);
  const all = probes.reduce((sum, one) => sum + one.all, 0);
  const odd = rounds.reduce((sum, { peak, over }) => sum + peak.odd + over.odd, 0);
  const isGood = goodput >= leastGoodput && failed + odd === 0;
  console.log(
    `${isGood ? 'ok' : 'NOT OK'}: ${name}: goodput ${Math.round(goodput)} % of the peak, ` +
      `p99 ${p99} ms, refusals p99 ${refusedP99} ms, ${odd} odd, ` +
      `${failed} of ${all} probes failed, their p99 ${quantile(
        probes.map((one) => one.p99),
        0.5,
      )} ms`,
  );
  return isGood;
}

function describe({ goodput, p50, p99, refused, refusedP99 }: ClientReport): string {
  return `${goodput} served a second, p50 ${p50} p99 ${p99} ms; ${refused} refused, p99 ${refusedP99} ms`;
}

if (values.load !== undefined) {
  const load = JSON.parse(values.load) as ClientLoad;
  const connected = async () => {
    process.send?.('connected');
    await once(process, 'message');
  };
  process.send?.(await runClients(load, connected));
  process.disconnect();
} else {
  for (const [name, { store, request }] of Object.entries(loads)) {
    if (values.only !== undefined && !name.includes(values.only)) continue;
    if (!(await overload(name, store, request))) process.exitCode = 1;
  }
}
