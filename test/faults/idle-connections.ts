// Opens connections that do nothing, or little, and others that read no large page, and measures a
// normal client beside them. A machine has to allow this process as many open files: `ulimit -n`.
//
//   node test/faults/idle-connections.ts [--connections 10000] [--store memory:] [--seconds 20]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServer } from '../support/server.ts';
import { quantile } from './clients.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '10000' },
    store: { type: 'string', default: 'memory:' },
    seconds: { type: 'string', default: '20' },
    /** Runs the normal client: a process of its own. */
    client: { type: 'string' },
  },
});
/** Milliseconds, and MB (1,000,000 bytes) of the server. */
const bounds = { p99: 50, memory: 400 };
/** The server takes 10,000 connections; the normal client needs some of them. */
const spare = 20;
/**
 * Percent of the connections that are open at a time, as a rule: the server ends those that are slow
 * for long, and others take their place as soon as they are let in.
 */
const usuallyOpen = 90;
const headers = { 'Content-Type': 'application/json' };

const post = 'POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** What a client does that does not get on; a part more each second. */
const slowClients: Record<string, { readonly first: string; readonly more: string }> = {
  idle: { first: '', more: '' },
  'idle after a request': { first: get('/livez'), more: '' },
  'slow headers': { first: 'GET /livez HTTP/1.1\r\nHost: localhost\r\n', more: 'X: x\r\n' },
  'slow body': { first: `${post}Content-Length: 16000\r\n\r\n{"name":"`, more: 'x' },
  'slow chunks': { first: `${post}Transfer-Encoding: chunked\r\n\r\n`, more: '1\r\nx\r\n' },
  'slow reads': { first: get('/api/v1/posts'), more: '' },
};

class SlowConnections {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  /** How often the server ended one, and another took its place. */
  ended = 0;
  #isOver = false;

  constructor(port: number) {
    this.#port = port;
  }

  get open(): number {
    return [...this.#sockets].filter(({ connecting }) => !connecting).length;
  }

  async openAll(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      this.#open(n);
      if (n % 100 === 99) await sleep(50);
    }
  }

  connect(n: number): Socket {
    // A port serves 28,000 connections of one address at most, those that were closed included.
    const localAddress = `127.0.0.${2 + (n % 8)}`;
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress });
    this.#sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }

  closeAll(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(n: number): void {
    const names = Object.keys(slowClients);
    const name = names[n % names.length] ?? '';
    const { first, more } = slowClients[name] ?? { first: '', more: '' };
    const socket = this.connect(n);
    if (first !== '') socket.write(first);
    const timer = setInterval(() => {
      if (more !== '') socket.write(more);
      if (name === 'slow reads') socket.read(500);
    }, 1000);
    if (name === 'slow reads') socket.pause();
    else socket.resume();
    socket.on('close', () => {
      clearInterval(timer);
      if (this.#isOver) return;
      this.ended += 1;
      setTimeout(() => this.#isOver || this.#open(n), n % 200);
    });
  }
}

interface Seen {
  readonly all: number;
  readonly failed: number;
  readonly p99: number;
}

/** A client that asks for one small thing after another: 20 a second. */
async function normalClient(address: string): Promise<Seen> {
  const end = performance.now() + Number(values.seconds) * 1000;
  const times: number[] = [];
  let failed = 0;
  const requests: readonly (readonly [string, RequestInit?])[] = [
    ['/api/v1/posts?limit=1'],
    ['/api/v1/users', { method: 'POST', headers, body: '{"name":"Ann"}' }],
    ['/api/v1/posts?limit=100&fields=title'],
    ['/readyz'],
  ];
  for (let n = 0; performance.now() < end; n++) {
    const [path, init] = requests[n % requests.length] ?? ['/livez'];
    const start = performance.now();
    const isServed = await fetch(address + path, init).then(
      async (response) => (await response.arrayBuffer()) && response.ok,
      () => false,
    );
    times.push(performance.now() - start);
    if (!isServed) failed += 1;
    await sleep(50);
  }
  return { all: times.length, failed, p99: quantile(times, 0.99) };
}

/** In MB. */
function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Math.round((Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / 1e6);
}

async function run(): Promise<void> {
  // As docs/deploying.md says it for little memory: where there is room, Node collects its garbage late.
  process.env.NODE_OPTIONS = '--max-old-space-size=256 --max-semi-space-size=16';
  await using server = await startServer('--store', values.store);
  const { address } = server;
  const port = Number(new URL(address).port);

  async function measure(
    name: string,
    slow: SlowConnections,
    { open = 0, memory = Number.POSITIVE_INFINITY } = {},
  ): Promise<void> {
    const child = fork(import.meta.filename, ['--client', address, '--seconds', values.seconds]);
    const seen = { open: [slow.open], memory: 0 };
    const watch = setInterval(() => {
      seen.open.push(slow.open);
      seen.memory = Math.max(seen.memory, memoryOf(server.process.pid));
    }, 250);
    const [{ all, failed, p99 }] = (await once(child, 'message')) as [Seen];
    clearInterval(watch);
    const usual = quantile(seen.open, 0.5);
    const isGood = failed === 0 && p99 <= bounds.p99 && seen.memory <= memory && usual >= open;
    if (!isGood) process.exitCode = 1;
    console.log(
      `${isGood ? 'ok' : 'NOT OK'}: ${name}: ${usual} open (${Math.min(...seen.open)} at least), ${slow.ended} ended and ` +
        `replaced; ${failed} of ${all} requests failed, p99 ${p99} ms, ${seen.memory} MB at most`,
    );
  }

  for (let n = 0; n < 1000; n++) {
    const body = JSON.stringify({ title: 'x', body: 'x'.repeat(1000) });
    await fetch(`${address}/api/v1/posts`, { method: 'POST', headers, body });
  }
  await measure('alone', new SlowConnections(port));

  const idle = new SlowConnections(port);
  const count = Number(values.connections) - spare;
  await idle.openAll(count);
  const open = (count * usuallyOpen) / 100;
  await measure('idle and slow connections', idle, { open, memory: bounds.memory });
  idle.closeAll();
  await sleep(1000);

  const readers = new SlowConnections(port);
  for (let n = 0; n < 16; n++)
    readers.connect(n).pause().write(get('/api/v1/posts?limit=1000').repeat(8));
  await sleep(1000);
  await measure('16 clients that read no large page', readers);
  readers.closeAll();
}

if (values.client === undefined) await run();
else {
  process.send?.(await normalClient(values.client));
  process.disconnect();
}
