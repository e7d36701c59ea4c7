import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server that is pressed. */
export interface Target {
  readonly address: string;
  /** For how long. */
  readonly ms: number;
  /** A connection that the end of the press closes. */
  open(): Socket;
}

const mebibyte = 1024 * 1024;
const headers = { 'Content-Type': 'application/json' };

/** The record of 1 MiB that takes most time and memory as objects. */
const largePost = `{"title":"x","own":[${'{},'.repeat((mebibyte - 100) / 3)}{}]}`;

/** Each press: what it did, in words, when it is over. */
export const presses: Record<string, (target: Target) => Promise<string>> = {
  async nothing(target) {
    await sleep(target.ms);
    return '';
  },

  async pipelines(target) {
    const id = await makePost(target.address, largePost);
    for (let i = 0; i < 20; i++) target.open().write(request(`/posts/${id}`).repeat(250));
    await sleep(target.ms);
    return '20 packets of 250 GETs of 1 MiB';
  },

  'small changes of a large record': (target) => keepChanging(target, (n) => ({ n })),
  'changes of a large record that fail': (target) => keepChanging(target, () => ({ title: '' })),

  async 'fields of large records'(target) {
    for (let n = 0; n < 2; n++) await makePost(target.address, largePost);
    const lists = await keepAsking(target, 250, () => request('/posts?limit=100&fields=title'));
    return `${lists} lists of two titles on 250 connections`;
  },

  async searches(target) {
    await fill(target, 30_000, 300);
    const search = request('/posts?authorId=&sort=title&limit=1');
    const lists = await keepAsking(target, 250, () => search);
    return `${lists} lists that sort 30,000 posts on 250 connections`;
  },

  async 'tiny chunks'(target) {
    const chunks = '1\r\nx\r\n'.repeat(10_000);
    let cut = 0;
    for (const end = performance.now() + target.ms; performance.now() < end; await sleep(1000)) {
      const socket = target.open().on('close', () => (cut += 1));
      socket.write(
        `${head('POST', '/posts')}Transfer-Encoding: chunked\r\n\r\n${chunks.repeat(100)}`,
      );
    }
    return `${cut} bodies of a million chunks cut off`;
  },

  async 'slow readers'(target) {
    await fill(target, 600, 4000);
    for (let i = 0; i < 100; i++) {
      const socket = target.open().pause();
      socket.write(request('/posts?limit=1000').repeat(8));
      const timer = setInterval(() => socket.read(500), 1000);
      socket.on('close', () => clearInterval(timer));
    }
    await sleep(target.ms);
    return '100 readers of 500 bytes a second';
  },

  async 'readers of usual lists'(target) {
    await fill(target, 200, 15_000);
    const opened = await keepOpening(target, 100, 5, request('/posts?limit=100').repeat(8));
    return `${opened} readers of nothing`;
  },

  async 'unread bundles'(target) {
    const opened = await keepOpening(target, 3000, 0, request('/docs/swagger-ui-bundle.js'));
    return `${opened} readers of nothing`;
  },

  async 'silent connections'(target) {
    const opened = await keepOpening(target, 10_500, 0, '');
    return `${opened} of them`;
  },

  async 'one list in a closed loop'(target) {
    await fill(target, 200_000, 300);
    const list = request('/posts?sort=title&updatedAt[gte]=2099-01-01T00:00:00Z');
    return `${await keepAsking(target, 1, () => list)} lists over 200,000 posts`;
  },

  async 'many large records'(target) {
    const ids: string[] = [];
    const body = JSON.stringify({ title: 'x', own: 'x'.repeat(mebibyte - 100) });
    for (let n = 0; n < 100; n++) ids.push(await makePost(target.address, body));
    const reads = await keepAsking(target, 400, (n) => request(`/posts/${ids[n % 100]}`));
    return `${reads} reads of 100 records of 1 MiB on 400 connections`;
  },

  'pages, 64 clients': (target) => askForPages(target, 64, 4000),
  'small pages, 512 clients': (target) => askForPages(target, 512, 400),

  'bodies held back': (target) => holdBodies(target, 2300, `Content-Length: ${mebibyte}`),
  'chunks held back': (target) => holdBodies(target, 300, 'Transfer-Encoding: chunked'),

  async 'bad keys'(target) {
    const body = `{"name":"a","${'~'.repeat(1_000_000)}":[${Array(100).fill('1e999')}]}`;
    const end = performance.now() + target.ms;
    for (let n = 1; ; n++) {
      const response = await fetch(`${target.address}/api/v1/users`, {
        method: 'POST',
        headers,
        body,
      });
      const { length } = await response.text();
      if (response.status !== 422 || length > mebibyte) throw new Error(`${length} characters`);
      if (performance.now() > end) return `${n} bodies with a key of 1 MB`;
    }
  },

  async accept(target) {
    const Accept = `a/b;x="${','.repeat(28_000)}`;
    const end = performance.now() + target.ms;
    for (let n = 1; ; n++) {
      const { status } = await fetch(`${target.address}/problems/internal`, {
        headers: { Accept },
      });
      if (status !== 200) throw new Error(`The page of a problem is ${status}.`);
      if (performance.now() > end) return `${n} times 28 KB of Accept`;
    }
  },
};

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
  return opened;
}

async function keepChanging(target: Target, patch: (n: number) => object): Promise<string> {
  const id = await makePost(target.address, largePost);
  const patchHead = head('PATCH', `/posts/${id}`);
  const responses = await keepAsking(target, 50, (n) => {
    const body = JSON.stringify(patch(n));
    return `${patchHead}Content-Length: ${body.length}\r\n\r\n${body}`;
  });
  return `${responses} PATCHes of 1 MiB on 50 connections`;
}

/** Makes posts of about so many bytes. */
async function fill(target: Target, count: number, bytes: number): Promise<void> {
  const body = JSON.stringify({ title: 'x', body: 'x'.repeat(bytes - 200) });
  const post = `${head('POST', '/posts')}Content-Length: ${body.length}\r\n\r\n${body}`;
  const filled = Promise.withResolvers<void>();
  let made = 0;
  for (let i = 0; i < 32; i++) {
    const socket = target.open();
    onResponse(socket, () => {
      made += 1;
      if (made >= count) filled.resolve();
      else socket.write(post);
    });
    socket.write(post);
  }
  await filled.promise;
}

async function makePost(address: string, body: string): Promise<string> {
  const response = await fetch(`${address}/api/v1/posts`, { method: 'POST', headers, body });
  if (response.status !== 201) throw new Error(`A post could not be made: ${response.status}`);
  return ((await response.json()) as { id: string }).id;
}

function request(path: string): string {
  return `${head('GET', path)}\r\n`;
}

/** A request without the empty line behind its headers. */
function head(method: string, path: string): string {
  const typed = method === 'GET' ? '' : 'Content-Type: application/json\r\n';
  return `${method} ${path.startsWith('/docs') ? '' : '/api/v1'}${path} HTTP/1.1\r\nHost: localhost\r\n${typed}`;
}

/** Calls back for each response that begins with a piece of its own, as one has that is awaited. */
function onResponse(socket: Socket, received: () => void): void {
  socket.on('data', (chunk: Buffer) => {
    if (chunk.toString('latin1', 0, 9).startsWith('HTTP/1.1 ')) received();
  });
}

/** Asks again on each connection for each response. @returns how many there were */
async function keepAsking(
  target: Target,
  connections: number,
  next: (n: number) => string,
): Promise<number> {
  let responses = 0;
  for (let i = 0; i < connections; i++) {
    const socket = target.open();
    onResponse(socket, () => {
      responses += 1;
      socket.write(next(responses));
    });
    socket.write(next(i));
  }
  await sleep(target.ms);
  return responses;
}

/** How many clients of pages are few, and need not wait for each other. */
const few = 16;

/**
 * Clients that ask for the first thousand posts, and begin again as soon as they have them; first a
 * few, then many, and then these in turns, so that a machine that changes its speed changes it for both.
 */
async function askForPages(target: Target, many: number, bytes: number): Promise<string> {
  await fill(target, 1000, bytes);
  const pages = { few: 0, many: 0, refused: 0, cut: 0 };
  for (const which of ['few', 'many', 'many', 'few'] as const) {
    const seen = await askFor(target, which === 'few' ? few : many);
    pages[which] += seen.pages;
    pages.refused += seen.refused;
    pages.cut += seen.cut;
  }
  const part = Math.round((pages.many / pages.few) * 100);
  const isEnough = part >= 90;
  if (!isEnough) process.exitCode = 1;
  const rate = Math.round((pages.many / 2 / target.ms) * 1000);
  const got = `${rate} pages a second, ${pages.refused} refused, ${pages.cut} cut off`;
  return `${got}, ${isEnough ? '' : 'ONLY '}${part} % of what ${few} clients got`;
}

async function askFor(target: Target, clients: number) {
  const seen = { pages: 0, refused: 0, cut: 0 };
  let isOver = false;
  const sockets = Array.from({ length: clients }, () => {
    const socket = target.open();
    let missing = 0;
    let head = '';
    const ask = () => socket.write(request('/posts?limit=1000'));
    socket.on('close', () => {
      if (!isOver) seen.cut += 1;
    });
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
      if (missing <= 0) ask();
    });
    ask();
    return socket;
  });
  await sleep(1000); // Until all are connected: Node accepts one connection a turn.
  seen.pages = 0;
  await sleep(target.ms);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return seen;
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
