import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readResponses } from '../../support/responses.ts';
import { type Filled, head, post, withBody } from './contents.ts';

/** The server under load. */
export interface Target extends Filled {
  readonly address: string;
  /** The tokens of callers who can read users. */
  readonly tokens: readonly string[];
  /** The duration in milliseconds. */
  readonly ms: number;
  /** Opens a connection that is closed at the end of the scenario. */
  open(): Socket;
}

/** While Node accepts a hundred connections for longer than this, nobody else can connect. */
const acceptMs = 400;

/** The record of 1 MiB that takes the most time and memory to parse. */
export const largePost = { title: 'x', own: Array.from({ length: 49_990 }, () => ({})) };

/** Makes the client another one than that of the small requests. */
export const fromElsewhere = 'X-Forwarded-For: 192.0.2.1\r\n';

export function get(path: string, headers = ''): string {
  return `${head('GET', path)}${headers}\r\n`;
}

/** Opens connections that read nothing, and replaces `anew` of them five times a second. */
export async function keepOpening(target: Target, count: number, anew: number, text: string) {
  let opened = 0;
  const open = () => {
    opened += 1;
    const socket = target.open().pause();
    socket.write(text);
    return socket;
  };
  const sockets: Socket[] = [];
  for (let n = 1; n <= count; n++) {
    sockets.push(open());
    if (n % 100 === 0) await sleep(10); // Node accepts one connection per iteration of the event loop.
  }
  for (const end = performance.now() + target.ms; performance.now() < end; await sleep(200)) {
    for (const socket of sockets.splice(0, anew)) {
      socket.destroy();
      sockets.push(open());
    }
  }
  return `${opened} connections that read nothing`;
}

/** Opens connections with a tiny receive window that send one request and read nothing. */
export async function openSmallWindows(target: Target, count: number, text: string) {
  const script = join(import.meta.dirname, 'small-window.py');
  const { port } = new URL(target.address);
  const child = spawn('python3', [script, port, String(count), text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [opened] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (Number(opened) !== count) throw new Error('The clients need python3.');
    await sleep(target.ms);
  } finally {
    child.kill();
  }
  return `${count} clients with a window of 2 KiB that read nothing`;
}

/**
 * Keeps polls for events open, from enough addresses to stay within the limit of each. All polls request
 * different pages.
 *
 * @param after the position at which they begin
 */
export async function keepPolling(target: Target, count: number, after: string): Promise<string> {
  const { tokens } = target;
  const next = (n: number) => {
    const token = tokens[n % tokens.length];
    const path = `/events?after=${after}&limit=${(n % count) + 1}&wait=25`;
    const forwarded = `X-Forwarded-For: 10.0.${Math.floor((n % count) / 50)}.1\r\n`;
    const bearer = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
    return `${head('GET', path)}${forwarded}${bearer}\r\n`;
  };
  return `${await askFor(target, count, next, acceptMs)}`;
}

export async function keepChanging(target: Target, patch: (n: number) => object): Promise<string> {
  const { id } = await post(target.address, '/posts', largePost);
  return await keepAsking(target, 50, (n) =>
    withBody('PATCH', `/posts/${id}`, JSON.stringify(patch(n)), fromElsewhere),
  );
}

/** Statistics of the clients' requests. */
class Seen {
  served = 0;
  refused = 0;
  cut = 0;
  slowestMs = 0;

  toString(): string {
    const { served, refused, cut, slowestMs } = this;
    return `${served} served, ${refused} refused, ${cut} cut off, slowest ${slowestMs.toFixed(0)} ms`;
  }
}

/**
 * Sends the next request on each connection after each response, and reopens closed connections.
 *
 * @param pauseMs a pause after each hundred connections
 */
async function askFor(
  target: Target,
  connections: number,
  next: (n: number) => string,
  pauseMs = 0,
): Promise<Seen> {
  const seen = new Seen();
  const sockets = new Set<Socket>();
  let [asked, isOver] = [0, false];
  const connect = () => {
    if (isOver) return;
    const socket = target.open();
    sockets.add(socket);
    let since = 0;
    const ask = () => {
      since = performance.now();
      socket.write(next(asked++));
    };
    const received = (head: string) => {
      seen[head.startsWith('HTTP/1.1 20') ? 'served' : 'refused'] += 1;
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - since);
      ask();
    };
    readResponses(socket, received, (error) => socket.destroy(error));
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isOver) seen.cut += 1;
      setTimeout(connect, 100);
    });
    ask();
  };
  for (let n = 1; n <= connections; n++) {
    connect();
    if (n % 100 === 0) await sleep(pauseMs);
  }
  await sleep(target.ms);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return seen;
}

export async function keepAsking(
  target: Target,
  connections: number,
  next: (n: number) => string,
): Promise<string> {
  return `${await askFor(target, connections, next)}`;
}

/** Sends packets of pipelined requests on new connections, again as soon as one is closed. */
export async function flood(target: Target, connections: number, packet: string): Promise<string> {
  const bytes = Buffer.from(packet);
  let [sent, isOver] = [0, false];
  const open = () => {
    if (isOver) return;
    sent += 1;
    const socket = target.open().on('close', () => setTimeout(open, 10));
    socket.resume().write(bytes);
  };
  for (let n = 0; n < connections; n++) open();
  await sleep(target.ms);
  isOver = true;
  return `${sent} packets`;
}

/** Keeps AI agents calling tools that list records. */
export async function keepCallingTools(target: Target, clients: number): Promise<string> {
  const { tokens } = target;
  return await keepAsking(target, clients, (n) => {
    const params = { name: n % 2 === 0 ? 'find_posts' : 'find_users', arguments: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params });
    const accept = 'Accept: application/json, text/event-stream\r\n';
    const bearer = `Authorization: Bearer ${tokens[n % tokens.length]}\r\n`;
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return `${head('POST', '', '/mcp')}${accept}${bearer}${length}\r\n${body}`;
  });
}

export async function remove({ address, author, ms }: Target, posts: string): Promise<string> {
  const start = performance.now();
  const url = `${address}/api/v1/users/${author}?posts=${posts}`;
  const { ok, status } = await fetch(url, { method: 'DELETE' });
  if (!ok) process.exitCode = 1;
  const took = performance.now() - start;
  await sleep(Math.max(1, ms - took));
  return `${status} in ${took.toFixed(0)} ms`;
}

/**
 * Starts requests whose bodies never arrive.
 *
 * @param more sent five times a second
 */
export async function holdBodies(
  target: Target,
  count: number,
  length: string,
  more = '',
): Promise<string> {
  const some = 'x'.repeat(500_000);
  const isChunked = length.endsWith('chunked');
  const part = Buffer.from(
    `${head('POST', '/users')}${length}\r\n\r\n` +
      (isChunked ? `${some.length.toString(16)}\r\n${some}\r\n` : some),
  );
  for (let i = 1; i <= count; i++) {
    const socket = target.open();
    socket.write(part);
    const timer = setInterval(() => socket.write(more), 200);
    socket.on('close', () => clearInterval(timer));
    if (i % 100 === 0) await sleep(acceptMs);
  }
  await sleep(target.ms);
  return `${count} bodies with ${length}`;
}

/** Kinds of slow clients: what they send first, and then each second. */
const slowKinds: readonly { readonly first: string; readonly more: string }[] = [
  { first: '', more: '' },
  { first: `${head('GET', '', '/livez')}\r\n`, more: '' },
  { first: head('GET', '', '/livez'), more: 'X: x\r\n' },
  { first: `${head('POST', '/users')}Content-Length: 16000\r\n\r\n{"name":"`, more: 'x' },
  { first: `${head('POST', '/users')}Transfer-Encoding: chunked\r\n\r\n`, more: '1\r\nx\r\n' },
  { first: get('/posts'), more: '' },
];

/** Opens equally many slow clients of each kind, and replaces those that the server disconnects. */
export async function keepSlow(target: Target, count: number): Promise<string> {
  let [ended, isOver] = [0, false];
  const open = (n: number) => {
    if (isOver) return;
    const { first, more } = slowKinds[n % slowKinds.length] ?? { first: '', more: '' };
    const isReader = first === get('/posts');
    const socket = target.open();
    if (isReader) socket.pause();
    else socket.resume();
    socket.write(first);
    const timer = setInterval(() => {
      if (isReader) socket.read(500);
      else socket.write(more);
    }, 1000);
    socket.on('close', () => {
      clearInterval(timer);
      ended += 1;
      setTimeout(open, n % 200, n);
    });
  };
  for (let n = 0; n < count; n++) {
    open(n);
    if (n % 100 === 99) await sleep(50);
  }
  await sleep(target.ms);
  isOver = true;
  return `${count} connections, ${ended} ended and replaced`;
}
