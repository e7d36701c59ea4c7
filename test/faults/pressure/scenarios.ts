import { setTimeout as sleep } from 'node:timers/promises';
import { endOfEvents } from '../event-load.ts';
import { type Contents, head, post, withBody } from './contents.ts';
import {
  flood,
  fromElsewhere,
  get,
  holdBodies,
  keepAsking,
  keepCallingTools,
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
  /** The promise that the scenario tests. */
  readonly promise: string;
  /** The maximum p99 of other clients' requests in milliseconds, if limited. */
  readonly p99?: number | undefined;
  /** The maximum duration of one of them in milliseconds; 2,000 if absent. */
  readonly slowestMs?: number;
  /** The maximum memory of the server; 600 MiB if absent. */
  readonly mostMiB?: number;
  /** Runs the scenario and returns a summary. */
  run(target: Target): Promise<string>;
}

const promises = {
  none: 'the baseline',
  slots: 'clients take turns, and large requests start one after another',
  responses: 'large responses are counted until they are read, and stalled readers disconnected',
  pipelines: 'more than 16 pipelined requests close the connection',
  bodies: 'bodies that stall or drip delay no small ones; many chunks are cut off',
  connections: 'connections without a request are replaced',
  polls: 'requests that wait for events occupy nothing',
  parsing: 'no request takes long to parse',
};

/** Packets of pipelined requests: their number, and the requests in each. */
const floods = [
  [10, 256],
  [50, 256],
  [200, 256],
  [50, 5000],
  [200, 5000],
] as const;

/** Requests as small as an attacker can make them. */
const smallRequests = {
  GET: get('/users/x'),
  HEAD: `${head('HEAD', '/users/x')}\r\n`,
  'OPTIONS *': `${head('OPTIONS', '', '*')}\r\n`,
  'empty POST': withBody('POST', '/users', ''),
};

function floodsOf(): Record<string, Scenario> {
  return Object.fromEntries(
    Object.entries(smallRequests).flatMap(([kind, request]) =>
      floods.map(([connections, count]) => [
        `pipelined ${connections} × ${count} ${kind}`,
        {
          promise: promises.pipelines,
          ...{ p99: 250, mostMiB: 450 },
          run: (target: Target) => flood(target, connections, request.repeat(count)),
        },
      ]),
    ),
  );
}

function agentsOf(contents: Contents): Record<string, Scenario> {
  const all = [64, 200].flatMap((clients) =>
    [1, 10].map((callers) => [
      `${clients} tool calls at a time, ${callers === 1 ? 'one key' : `${callers} keys`}`,
      {
        promise: promises.slots,
        ...{ contents, callers, p99: 500 },
        run: (target: Target) => keepCallingTools(target, clients),
      },
    ]),
  );
  return Object.fromEntries(all);
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
  // It also parses each record that it cuts, and sorts all records of a list without an index (docs/operations.md).
  const titles = isMemory ? '/posts?fields=title&limit=20' : '/posts?fields=title';
  const p99 = isMemory ? undefined : 500;
  // MongoDB's server needs one of the machine's cores to send large records.
  const largeP99 = store === 'mongodb' ? 1000 : 500;
  const unindexed = '/posts?sort=title&updatedAt[gte]=2099-01-01T00:00:00Z';
  return {
    nothing: {
      promise: promises.none,
      async run(target) {
        await sleep(target.ms);
        return '';
      },
    },

    'titles of large posts, 400 clients': { ...keepGetting(large, 400, titles), p99 },
    'pages of large posts, 400 clients': { ...keepGetting(large, 400, '/posts'), p99: largeP99 },
    'large posts, 400 clients': {
      promise: promises.slots,
      ...{ contents: large, p99: largeP99 },
      run: (target) =>
        keepAsking(target, 400, (n) =>
          get(`/posts/${target.posts[n % target.posts.length]}`, fromElsewhere),
        ),
    },
    'titles of posts that are large as objects, 250 clients': {
      promise: promises.slots,
      p99: 500,
      async run(target) {
        for (let n = 0; n < 2; n++) await post(target.address, '/posts', largePost);
        return await keepAsking(target, 250, () => get(titles, fromElsewhere));
      },
    },
    'pages, 512 clients': keepGetting(pages, 512, '/posts'),
    'one list without an index, 1 client': { ...keepGetting(small, 1, unindexed), p99 },
    'one list without an index, 64 clients': { ...keepGetting(small, 64, unindexed), p99 },
    'sorts and counts, 250 clients': {
      promise: promises.slots,
      ...{ contents: { posts: 100_000, bytes: 300 }, p99 },
      run(target) {
        const author = `/posts?authorId=${target.author}`;
        const lists = [`${author}&sort=title`, '/posts?title=Untitled&sort=updatedAt'];
        const all = [...lists, `${author}&count=exact&limit=1`];
        return keepAsking(target, 250, (n) => get(all[n % all.length] ?? '', fromElsewhere));
      },
    },
    'deletion of a user that keeps the posts': {
      promise: promises.slots,
      contents: cascade,
      run: (it) => remove(it, 'keep'),
    },
    'deletion of a user with the posts': {
      promise: promises.slots,
      contents: cascade,
      run: (it) => remove(it, 'delete'),
    },
    ...agentsOf({ posts: isMemory ? 100 : 400, bytes: 100_000 }),

    ...floodsOf(),
    'small changes of a large record': {
      promise: promises.slots,
      p99: 1000, // Others' writes can wait for 60 changes, which take about 10 ms each.
      run: (target) => keepChanging(target, (n) => ({ n })),
    },
    'changes of a large record that fail': {
      promise: promises.slots,
      p99: 500,
      run: (target) => keepChanging(target, () => ({ title: '' })),
    },

    'small creations, 1,200 clients': keepSending(1200, [
      withBody('POST', '/users', '{"name":"Bob"}', fromElsewhere),
    ]),
    'reads and small changes, 1,200 clients': keepSending(1200, [
      get('/users/none', fromElsewhere),
      withBody('PATCH', '/users/none', '{"name":"Bob"}', fromElsewhere),
    ]),

    'tiny chunks': {
      promise: promises.bodies,
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
      promise: promises.bodies,
      p99: 500,
      run: (it) => holdBodies(it, 2300, `Content-Length: ${mebibyte}`),
    },
    'stalled chunks': {
      promise: promises.bodies,
      p99: 500,
      run: (it) => holdBodies(it, 300, 'Transfer-Encoding: chunked'),
    },
    'dripping bodies': {
      promise: promises.bodies,
      p99: 500,
      run: (it) => holdBodies(it, 300, `Content-Length: ${mebibyte}`, 'x'),
    },

    'slow readers': {
      promise: promises.responses,
      contents: { posts: 600, bytes: 10_000 },
      async run(target) {
        for (let i = 0; i < 1000; i++) {
          const socket = target.open().pause();
          socket.write(get('/posts').repeat(8));
          const timer = setInterval(() => socket.read(500), 1000);
          socket.on('close', () => clearInterval(timer));
          if (i % 100 === 99) await sleep(50);
        }
        await sleep(target.ms);
        return '1,000 readers of 500 bytes a second';
      },
    },
    'readers of ordinary lists': {
      promise: promises.responses,
      contents: { posts: 200, bytes: 15_000 },
      run: (target) => keepOpening(target, 100, 5, get('/posts').repeat(8)),
    },
    'unread bundles': {
      promise: promises.responses,
      run: (it) => keepOpening(it, 3000, 0, head('GET', '', '/docs/swagger-ui-bundle.js')),
    },
    'small windows': {
      promise: promises.responses,
      contents: large,
      run: (it) => openSmallWindows(it, 1000, get('/posts')),
    },

    'half headers': {
      promise: promises.connections,
      p99: 500,
      run: (it) => keepOpening(it, 4000, 20, head('GET', '/users')),
    },
    'silent connections': {
      promise: promises.connections,
      run: (target) => keepOpening(target, 10_500, 0, ''),
    },
    'idle and slow connections': {
      promise: promises.connections,
      // A new connection can wait for thousands of others that were opened in the same seconds (docs/operations.md).
      slowestMs: 10_000,
      contents: { posts: 1000, bytes: 1000 },
      run: (target) => keepSlow(target, 9900),
    },

    'polls behind events that they cannot see': {
      promise: promises.polls,
      contents: events,
      callers: 2, // One caller can have 50 polls.
      p99: 500,
      run: (target) => keepPolling(target, 64, target.position),
    },
    'polls of different pages': {
      promise: promises.polls,
      p99: 500,
      run: async (target) => keepPolling(target, 900, await endOfEvents(target.address)),
    },

    'bad keys': {
      promise: promises.parsing,
      run(target) {
        const body = `{"name":"a","${'~'.repeat(1_000_000)}":[${Array(100).fill('1e999')}]}`;
        return keepAsking(target, 1, () => withBody('POST', '/users', body));
      },
    },
    accept: {
      promise: promises.parsing,
      run(target) {
        const accept = `Accept: a/b;x="${','.repeat(28_000)}\r\n`;
        const request = `${head('GET', '', '/problems/internal')}${accept}\r\n`;
        return keepAsking(target, 1, () => request);
      },
    },
  };
}

function keepSending(clients: number, requests: readonly string[]): Scenario {
  return {
    promise: promises.slots,
    p99: 1000, // One iteration of the event loop reads the requests of up to 1,024 connections.
    run: (target) => keepAsking(target, clients, (n) => requests[n % requests.length] ?? ''),
  };
}

function keepGetting(contents: Contents, clients: number, path: string): Scenario {
  const request = get(path, fromElsewhere);
  return {
    promise: promises.slots,
    ...{ contents, p99: 500 },
    run: (target) => keepAsking(target, clients, () => request),
  };
}
