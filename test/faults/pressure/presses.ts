import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readResponses } from '../../support/responses.ts';
import { type Held, type Holdings, head, post, withBody } from './holdings.ts';

/** A server that is pressed. */
export interface Target extends Held {
  readonly address: string;
  /** For how long. */
  readonly ms: number;
  /** A connection that the end of the press closes. */
  open(): Socket;
}

export interface Press {
  readonly holds?: Holdings;
  /** @returns what it did, in words, when it is over */
  run(target: Target): Promise<string>;
}

const mebibyte = 1024 * 1024;

/** The record of 1 MiB that takes most time and memory as objects. */
const largePost = { title: 'x', own: Array.from({ length: (mebibyte - 100) / 3 }, () => ({})) };

/**
 * @param store the kind of store that is pressed
 * @param many how many posts a list looks through that has no index
 */
export function pressesOn(store: string, many: number): Record<string, Press> {
  // A memory store holds them in the heap of the server.
  const large = { posts: store === 'memory' ? 100 : 400, bytes: mebibyte };
  const pages = { posts: 1000, bytes: 4000 };
  // docs/mongodb.md says how many can be deleted in one transaction.
  const cascade = { posts: store === 'mongodb' ? 20_000 : 100_000, bytes: 300 };
  const titles = '/posts?limit=100&fields=title';
  const unindexed = '/posts?sort=title&updatedAt[gte]=2099-01-01T00:00:00Z';
  return {
    nothing: {
      async run(target) {
        await sleep(target.ms);
        return '';
      },
    },

    'titles of large posts, 40 clients': keepGetting(large, 40, titles),
    'titles of large posts, 400 clients': keepGetting(large, 400, titles),
    'large posts, 400 clients': {
      holds: large,
      run: (target) =>
        keepAsking(target, 400, (n) => get(`/posts/${target.posts[n % target.posts.length]}`)),
    },
    'titles of posts that are large as objects, 250 clients': {
      async run(target) {
        for (let n = 0; n < 2; n++) await post(target.address, '/posts', largePost);
        return await keepAsking(target, 250, () => get(titles));
      },
    },
    'pages, 64 clients': { holds: pages, run: (target) => askForPages(target, 64) },
    'pages, 512 clients': { holds: pages, run: (target) => askForPages(target, 512) },

    'one list without an index, 1 client': keepGetting({ posts: many, bytes: 300 }, 1, unindexed),
    'one list without an index, 64 clients': keepGetting(
      { posts: many, bytes: 300 },
      64,
      unindexed,
    ),
    'sorts and counts, 250 clients': {
      holds: { posts: 100_000, bytes: 300 },
      run(target) {
        const author = `/posts?authorId=${target.author}`;
        const lists = [`${author}&sort=title`, '/posts?title=Untitled&sort=updatedAt'];
        const all = [...lists, `${author}&count=exact&limit=1`];
        return keepAsking(target, 250, (n) => get(all[n % all.length] ?? ''));
      },
    },
    'deletion of a user that keeps the posts': { holds: cascade, run: (it) => remove(it, 'keep') },
    'deletion of a user with the posts': { holds: cascade, run: (it) => remove(it, 'delete') },

    pipelines: {
      async run(target) {
        const { id } = await post(target.address, '/posts', largePost);
        for (let i = 0; i < 20; i++) target.open().write(get(`/posts/${id}`).repeat(250));
        await sleep(target.ms);
        return '20 packets of 250 GETs of 1 MiB';
      },
    },
    'small changes of a large record': { run: (target) => keepChanging(target, (n) => ({ n })) },
    'changes of a large record that fail': {
      run: (target) => keepChanging(target, () => ({ title: '' })),
    },

    'tiny chunks': {
      async run(target) {
        const chunks = '1\r\nx\r\n'.repeat(1_000_000);
        const body = `${head('POST', '/posts')}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
        let cut = 0;
        for (const end = performance.now() + target.ms; performance.now() < end; ) {
          target
            .open()
            .on('close', () => (cut += 1))
            .write(body);
          await sleep(1000);
        }
        return `${cut} bodies of a million chunks cut off`;
      },
    },
    'bodies held back': { run: (it) => holdBodies(it, 2300, `Content-Length: ${mebibyte}`) },
    'chunks held back': { run: (it) => holdBodies(it, 300, 'Transfer-Encoding: chunked') },

    'slow readers': {
      holds: { posts: 600, bytes: 4000 },
      async run(target) {
        for (let i = 0; i < 100; i++) {
          const socket = target.open().pause();
          socket.write(get('/posts?limit=1000').repeat(8));
          const timer = setInterval(() => socket.read(500), 1000);
          socket.on('close', () => clearInterval(timer));
        }
        await sleep(target.ms);
        return '100 readers of 500 bytes a second';
      },
    },
    'readers of usual lists': {
      holds: { posts: 200, bytes: 15_000 },
      run: (target) => keepOpening(target, 100, 5, get('/posts?limit=100').repeat(8)),
    },
    'unread bundles': {
      run: (it) => keepOpening(it, 3000, 0, head('GET', '', '/docs/swagger-ui-bundle.js')),
    },
    'silent connections': { run: (target) => keepOpening(target, 10_500, 0, '') },
    'idle and slow connections': {
      holds: { posts: 1000, bytes: 1000 },
      run: (target) => keepSlow(target, 9900),
    },

    'bad keys': {
      run(target) {
        const body = `{"name":"a","${'~'.repeat(1_000_000)}":[${Array(100).fill('1e999')}]}`;
        return keepAsking(target, 1, () => withBody('POST', '/users', body));
      },
    },
    accept: {
      run(target) {
        const accept = `Accept: a/b;x="${','.repeat(28_000)}\r\n`;
        const request = `${head('GET', '', '/problems/internal')}${accept}\r\n`;
        return keepAsking(target, 1, () => request);
      },
    },
  };
}

function keepGetting(holds: Holdings, clients: number, path: string): Press {
  return { holds, run: (target) => keepAsking(target, clients, () => get(path)) };
}

function get(path: string): string {
  return `${head('GET', path)}\r\n`;
}

/** Opens connections that read nothing; so many of them begin anew five times a second. */
async function keepOpening(target: Target, count: number, anew: number, text: string) {
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
    if (n % 100 === 0) await sleep(10); // Node accepts one connection a turn.
  }
  for (const end = performance.now() + target.ms; performance.now() < end; await sleep(200)) {
    for (const socket of sockets.splice(0, anew)) {
      socket.destroy();
      sockets.push(open());
    }
  }
  return `${opened} connections that read nothing`;
}

async function keepChanging(target: Target, patch: (n: number) => object): Promise<string> {
  const { id } = await post(target.address, '/posts', largePost);
  return await keepAsking(target, 50, (n) =>
    withBody('PATCH', `/posts/${id}`, JSON.stringify(patch(n))),
  );
}

/** What clients saw of their own requests. */
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

/** Asks on each connection as soon as the response is there, and again on a new one when it ends. */
async function askFor(
  target: Target,
  connections: number,
  next: (n: number) => string,
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
  for (let n = 0; n < connections; n++) connect();
  await sleep(target.ms);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return seen;
}

async function keepAsking(
  target: Target,
  connections: number,
  next: (n: number) => string,
): Promise<string> {
  return `${await askFor(target, connections, next)}`;
}

/** How many clients of pages are few, and need not wait for each other. */
const few = 16;

/**
 * Clients that ask for the first thousand posts: first a few, then many, and then these in turns, so
 * that a machine that changes its speed changes it for both.
 */
async function askForPages(target: Target, many: number): Promise<string> {
  const page = () => get('/posts?limit=1000');
  const pages: Seen[] = [];
  for (const clients of [few, many, many, few]) pages.push(await askFor(target, clients, page));
  const [first, second, third, fourth] = pages.map(({ served }) => served) as [
    ...[number, number, number, number],
  ];
  const part = Math.round(((second + third) / (first + fourth)) * 100);
  if (part < 90) process.exitCode = 1;
  return `${pages[1]}; ${part < 90 ? 'ONLY ' : ''}${part} % of what ${few} clients got`;
}

async function remove({ address, author, ms }: Target, posts: string): Promise<string> {
  const start = performance.now();
  const url = `${address}/api/v1/users/${author}?posts=${posts}`;
  const { ok, status } = await fetch(url, { method: 'DELETE' });
  if (!ok) process.exitCode = 1;
  const took = performance.now() - start;
  await sleep(ms - took);
  return `${status} in ${took.toFixed(0)} ms`;
}

/** Begins bodies that never come. */
async function holdBodies(target: Target, count: number, length: string): Promise<string> {
  const some = 'x'.repeat(500_000);
  const isChunked = length.endsWith('chunked');
  const part = Buffer.from(
    `${head('POST', '/users')}${length}\r\n\r\n` +
      (isChunked ? `${some.length.toString(16)}\r\n${some}\r\n` : some),
  );
  for (let i = 1; i <= count; i++) {
    target.open().write(part);
    if (i % 100 === 0) await sleep(50); // Node accepts one connection a turn.
  }
  await sleep(target.ms);
  return `${count} bodies with ${length}`;
}

/** What a client does that does not get on: first, and each second. */
const slowWays: readonly { readonly first: string; readonly more: string }[] = [
  { first: '', more: '' },
  { first: `${head('GET', '', '/livez')}\r\n`, more: '' },
  { first: head('GET', '', '/livez'), more: 'X: x\r\n' },
  { first: `${head('POST', '/users')}Content-Length: 16000\r\n\r\n{"name":"`, more: 'x' },
  { first: `${head('POST', '/users')}Transfer-Encoding: chunked\r\n\r\n`, more: '1\r\nx\r\n' },
  { first: get('/posts'), more: '' },
];

/** As many slow clients of each way; another takes the place of one that the server ends. */
async function keepSlow(target: Target, count: number): Promise<string> {
  let [ended, isOver] = [0, false];
  const open = (n: number) => {
    if (isOver) return;
    const { first, more } = slowWays[n % slowWays.length] ?? { first: '', more: '' };
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
