// Presses the server with what once ended it or switched it off for others, while a client of small
// requests asks 20 times a second: a list of one, a new user, /livez. That client has to be served
// without 5xx in 98 of 100 cases, and within 2 s. Beside clients of pages no POST may fail, its p99
// may be twice what it is alone, and many clients have to get 90 % of the pages that few get.
//
//   node test/faults/http-pressure.ts [--store memory:] [--only pipelines] [--seconds 10]
//     [--program PATH/main.js, to press another build, such as an older one]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { program, startProgram } from '../support/server.ts';
import { quantile } from './clients.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory:' },
    only: { type: 'string' },
    program: { type: 'string', default: program },
    /** Runs the client of small requests: a process of its own. */
    probe: { type: 'string' },
    seconds: { type: 'string', default: '10' },
  },
});
const ms = Number(values.seconds) * 1000;
const mebibyte = 1024 * 1024;
const headers = { 'Content-Type': 'application/json' };

interface Target {
  readonly address: string;
  /** A connection that the end of the press closes. */
  open(): Socket;
}

/** Makes posts of about so many bytes. @returns the id of the last one */
async function fill({ address }: Target, count: number, bytes: number): Promise<string> {
  let id = '';
  for (let made = 0; made < count; made += 20) {
    await Promise.all(
      Array.from({ length: Math.min(20, count - made) }, async () => {
        const body = JSON.stringify({ title: 'x', body: 'x'.repeat(bytes - 200) });
        const response = await fetch(`${address}/api/v1/posts`, { method: 'POST', headers, body });
        ({ id } = (await response.json()) as { id: string });
      }),
    );
  }
  return id;
}

function request(path: string): string {
  return `GET /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

/** How many pages a second few clients got. */
let pagesOfFew = 0;

/** Clients that ask for a page as soon as they have one. @returns how many each second got */
async function askForPages(target: Target, clients: number): Promise<string> {
  const seen = { pages: 0, refused: 0 };
  for (let i = 0; i < clients; i++) {
    const socket = target.open();
    let missing = 0;
    let head = '';
    socket.on('data', (chunk: Buffer) => {
      if (missing > 0) missing -= chunk.length;
      else {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        seen[head.startsWith('HTTP/1.1 200') ? 'pages' : 'refused'] += 1;
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4);
        head = '';
      }
      if (missing <= 0) socket.write(request('/posts?limit=1000'));
    });
    socket.write(request('/posts?limit=1000'));
  }
  await sleep(1000); // Until all are connected: Node accepts one connection a turn.
  seen.pages = 0;
  await sleep(ms);
  const rate = (seen.pages / ms) * 1000;
  const got = `${rate.toFixed(0)} pages a second, ${seen.refused} refused`;
  if (clients === 16) {
    pagesOfFew = rate;
    return got;
  }
  const part = Math.round((rate / pagesOfFew) * 100);
  if (part < 90) process.exitCode = 1;
  return `${got}, ${part < 90 ? 'ONLY ' : ''}${part} % of what 16 clients got`;
}

/** Each press: what it did, in words, when it is over. */
const presses: Record<string, (target: Target) => Promise<string>> = {
  async nothing() {
    await sleep(ms);
    return '';
  },

  async pipelines(target) {
    const body = `{"title":"x","own":[${'{},'.repeat((mebibyte - 100) / 3)}{}]}`;
    const { address } = target;
    const made = await fetch(`${address}/api/v1/posts`, { method: 'POST', headers, body });
    const { id } = (await made.json()) as { id: string };
    for (let i = 0; i < 20; i++) target.open().write(request(`/posts/${id}`).repeat(250));
    await sleep(ms);
    return '20 packets of 250 GETs of 1 MiB';
  },

  async 'slow readers'(target) {
    await fill(target, 600, 4000);
    for (let i = 0; i < 100; i++) {
      const socket = target.open().pause();
      for (let n = 0; n < 8; n++) socket.write(request('/posts?limit=1000'));
      const timer = setInterval(() => socket.read(500), 1000);
      socket.on('close', () => clearInterval(timer));
    }
    await sleep(ms);
    return '100 readers of 500 bytes a second';
  },

  async 'pages, 16 clients'(target) {
    await fill(target, 1000, 4000);
    return askForPages(target, 16);
  },

  async 'pages, 64 clients'(target) {
    await fill(target, 1000, 4000);
    return askForPages(target, 64);
  },

  async 'small pages, 16 clients'(target) {
    await fill(target, 1000, 400);
    return askForPages(target, 16);
  },

  async 'small pages, 512 clients'(target) {
    await fill(target, 1000, 400);
    return askForPages(target, 512);
  },

  async 'bodies held back'(target) {
    const head = `POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${mebibyte}\r\n\r\n`;
    const part = Buffer.from(head + 'x'.repeat(500_000));
    for (let i = 1; i <= 2300; i++) {
      target.open().write(part);
      if (i % 100 === 0) await sleep(50); // Node accepts one connection a turn.
    }
    await sleep(ms);
    return '2,300 bodies of 1 MiB';
  },

  async accept({ address }) {
    const Accept = `a/b;x="${','.repeat(28_000)}`;
    const end = performance.now() + ms;
    for (let n = 1; ; n++) {
      await fetch(`${address}/problems/internal`, { headers: { Accept } });
      if (performance.now() > end) return `${n} times 28 KB of Accept`;
    }
  },
};

/** What the client of small requests sees, until it is told to end. */
async function probe(address: string): Promise<Seen> {
  const seen = { all: 0, failed: 0, slowest: 0, failedPosts: 0 };
  const posts: number[] = [];
  const ended = new AbortController();
  process.once('message', () => ended.abort());
  const asked: Promise<void>[] = [];
  async function ask(path: string, init?: RequestInit): Promise<void> {
    const start = performance.now();
    const status = await fetch(address + path, init).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 599,
    );
    seen.all += 1;
    if (status >= 500) seen.failed += 1;
    const ms = performance.now() - start;
    seen.slowest = Math.max(seen.slowest, ms);
    if (init === undefined) return;
    posts.push(ms);
    if (status >= 500) seen.failedPosts += 1;
  }
  const body = '{"name":"Ann"}';
  for (let n = 0; !ended.signal.aborted; n++) {
    if (n % 3 === 0) asked.push(ask('/api/v1/posts?limit=1'));
    else if (n % 3 === 1) asked.push(ask('/api/v1/users', { method: 'POST', headers, body }));
    else asked.push(ask('/livez'));
    await sleep(50);
  }
  await Promise.all(asked);
  return { ...seen, postP99: quantile(posts, 0.99) };
}

interface Seen {
  readonly all: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly slowest: number;
  readonly failedPosts: number;
  readonly postP99: number;
}

/** The p99 of POST when nothing presses the server. */
let aloneP99 = 0;

async function run(name: string, press: (target: Target) => Promise<string>): Promise<string> {
  await using server = await startProgram(values.program, '--store', values.store);
  const { address } = server;
  const sockets: Socket[] = [];
  const open = () => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const child = fork(import.meta.filename, ['--probe', address]);
  const did = await press({ address, open });
  child.send('end');
  const [seen] = (await once(child, 'message')) as [Seen];
  const { all, failed, slowest, failedPosts, postP99 } = seen;
  for (const socket of sockets) socket.destroy();
  if (name === 'nothing') aloneP99 = postP99;
  const isSlowed = name.includes('pages') && (failedPosts > 0 || postP99 > aloneP99 * 2);
  const isServed = failed <= all / 50 && slowest <= 2000 && !isSlowed;
  if (!isServed) process.exitCode = 1;
  const others = `${failed} of ${all} failed, slowest ${slowest.toFixed(0)} ms, p99 of POST ${postP99} ms`;
  return `${isServed ? 'ok' : 'NOT OK'}: ${did}; of others ${others}`;
}

if (values.probe !== undefined) {
  process.send?.(await probe(values.probe));
  process.disconnect();
} else {
  for (const [name, press] of Object.entries(presses)) {
    // First of all, what the others are held against.
    const isWanted = name === 'nothing' || values.only === undefined || name.includes(values.only);
    if (!isWanted) continue;
    console.log(`${name}: ${await run(name, press)}`);
  }
}
