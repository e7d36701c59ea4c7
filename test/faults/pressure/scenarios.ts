import { setTimeout as sleep } from 'node:timers/promises';
import { endOfEvents } from '../event-load.ts';
import { type Contents, head, post, withBody } from './contents.ts';
import {
  askForPages,
  get,
  holdBodies,
  keepAsking,
  keepChanging,
  keepOpening,
  keepPolling,
  keepSlow,
  largePost,
  openSmallWindows,
  remove,
  type Target,
} from './load-clients.ts';

const mebibyte = 1024 * 1024;

export interface Scenario {
  readonly contents?: Contents;
  /** The number of callers with keys. */
  readonly callers?: number;
  /** The maximum p99 of other clients' requests in milliseconds, if limited. */
  readonly p99?: number;
  /** Runs the scenario and returns a summary. */
  run(target: Target): Promise<string>;
}

/**
 * @param store the kind of store
 * @param many the number of posts that a list without an index scans
 */
export function scenariosOn(store: string, many: number): Record<string, Scenario> {
  // The memory store keeps its records in the heap of the server.
  const isMemory = store === 'memory';
  const large = { posts: isMemory ? 100 : 400, bytes: mebibyte };
  const small = { posts: isMemory ? Math.min(many, 200_000) : many, bytes: 300 };
  const pages = { posts: 1000, bytes: 4000 };
  // docs/mongodb.md documents how many posts fit into a transaction with this cache, and docs/operations.md how
  // long one takes on SQLite.
  const cascades: Record<string, number> = { memory: 100_000, sqlite: 50_000, mongodb: 15_000 };
  const cascade = { posts: cascades[store] ?? 0, bytes: 300 };
  // The memory store keeps 65,536 events.
  const events = { posts: 60_000, bytes: 300 };
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
      contents: large,
      run: (target) =>
        keepAsking(target, 400, (n) => get(`/posts/${target.posts[n % target.posts.length]}`)),
    },
    'titles of posts that are large as objects, 250 clients': {
      async run(target) {
        for (let n = 0; n < 2; n++) await post(target.address, '/posts', largePost);
        return await keepAsking(target, 250, () => get(titles));
      },
    },
    'pages, 64 clients': { contents: pages, run: (target) => askForPages(target, 64) },
    'pages, 512 clients': { contents: pages, run: (target) => askForPages(target, 512) },

    'one list without an index, 1 client': keepGetting(small, 1, unindexed),
    'one list without an index, 64 clients': keepGetting(small, 64, unindexed),
    'sorts and counts, 250 clients': {
      contents: { posts: 100_000, bytes: 300 },
      run(target) {
        const author = `/posts?authorId=${target.author}`;
        const lists = [`${author}&sort=title`, '/posts?title=Untitled&sort=updatedAt'];
        const all = [...lists, `${author}&count=exact&limit=1`];
        return keepAsking(target, 250, (n) => get(all[n % all.length] ?? ''));
      },
    },
    'deletion of a user that keeps the posts': {
      contents: cascade,
      run: (it) => remove(it, 'keep'),
    },
    'deletion of a user with the posts': { contents: cascade, run: (it) => remove(it, 'delete') },

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
    'stalled bodies': {
      p99: 500,
      run: (it) => holdBodies(it, 2300, `Content-Length: ${mebibyte}`),
    },
    'stalled chunks': {
      p99: 500,
      run: (it) => holdBodies(it, 300, 'Transfer-Encoding: chunked'),
    },

    'slow readers': {
      contents: { posts: 600, bytes: 4000 },
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
    'readers of ordinary lists': {
      contents: { posts: 200, bytes: 15_000 },
      run: (target) => keepOpening(target, 100, 5, get('/posts?limit=100').repeat(8)),
    },
    'unread bundles': {
      run: (it) => keepOpening(it, 3000, 0, head('GET', '', '/docs/swagger-ui-bundle.js')),
    },
    'half headers': {
      p99: 500,
      run: (it) => keepOpening(it, 4000, 20, head('GET', '/users')),
    },
    'fewer silent connections': { p99: 500, run: (target) => keepOpening(target, 4000, 0, '') },
    'silent connections': { run: (target) => keepOpening(target, 10_500, 0, '') },
    'idle and slow connections': {
      contents: { posts: 1000, bytes: 1000 },
      run: (target) => keepSlow(target, 9900),
    },

    'small windows': {
      contents: large,
      p99: 500,
      run: (it) => openSmallWindows(it, 1000, get('/posts?limit=1000')),
    },
    'polls behind events that they cannot see': {
      contents: events,
      callers: 2, // One caller can have 50 polls.
      p99: 500,
      run: (target) => keepPolling(target, 64, target.position),
    },
    'polls of different pages': {
      p99: 500,
      run: async (target) => keepPolling(target, 900, await endOfEvents(target.address)),
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

function keepGetting(contents: Contents, clients: number, path: string): Scenario {
  return { contents, run: (target) => keepAsking(target, clients, () => get(path)) };
}
