import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
import { slotLimits } from '../../../src/adapters/http/limits/slots.ts';
import { createMcpHandler } from '../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { Metrics } from '../../../src/adapters/metrics/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import { expectProblem, startApi } from './support/api.ts';
import { exchange, RawConnection } from './support/raw.ts';

const mebibyte = 1024 * 1024;
const host = 'Host: x\r\n';
const typed = 'Content-Type: application/json\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
const post = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}`;

/** A store in which calls of one method wait until `release`; `seen.now` counts the calls in progress. */
function stuckStore<M extends 'get' | 'list' | 'create' | 'update'>(method: M) {
  const store = createMemoryStore();
  const seen = { now: 0, all: 0 };
  let gate = Promise.withResolvers<void>();
  for (const repository of [store.users, store.posts]) {
    const call = (repository[method] as (...given: unknown[]) => Promise<unknown>).bind(repository);
    Object.assign(repository, {
      async [method](...given: unknown[]) {
        seen.now += 1;
        seen.all += 1;
        await gate.promise;
        seen.now -= 1;
        return call(...given);
      },
    });
  }
  const release = () => {
    gate.resolve();
    gate = Promise.withResolvers();
  };
  return { store, seen, release };
}

describe('the limiter', function () {
  this.timeout(60_000);

  it('rejects the 2,001st request in progress or waiting without reading its body, whatever it asks for', async () => {
    const { store, seen, release } = stuckStore('get');
    const metrics = new Metrics();
    await using api = await startApi({ store, app: { metrics, trustedProxies: 1 } });
    const from = (client: number) => ({ 'X-Forwarded-For': `192.0.2.${client}` });
    const waiting = Array.from({ length: 2000 }, (_, n) => api.get('/users/x', from(n % 8)));
    await until(
      () => seen.now === slotLimits.reads,
      'as many as have slots are in progress',
      30_000,
    );
    const full = async () => {
      const { body } = await metrics.exposition();
      return body.includes(`\nrostrum_http_limiter_waiting ${2000 - slotLimits.reads}\n`);
    };
    await until(full, 'the others are waiting', 30_000);
    for (const path of ['/users/x', '/users']) {
      const refused = await api.get(path, from(9));
      expectProblem(refused, 503, 'overloaded');
      expect(Number(refused.headers.get('Retry-After'))).to.be.within(1, 5);
    }
    const write = await exchange(api.server, `${post}Content-Length: 1000\r\n\r\n`);
    expect([write?.status, write?.body.code]).to.deep.equal([503, 'overloaded']);
    expect((await api.get(`${api.server.url}/readyz`)).status).to.equal(200);
    const releasing = setInterval(release, 20);
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(404);
    clearInterval(releasing);
  });

  for (const [most, what, path, otherPath] of [
    [4, 'lists', '/posts', '/posts?limit=20'],
    [16, 'lists with a limit of at most 20', '/posts?limit=20', '/posts'],
  ] as const) {
    it(`runs ${most} ${what} at a time`, async () => {
      const { store, seen, release } = stuckStore('list');
      await using api = await startApi({ store });
      const all = Array.from({ length: most + 6 }, () => api.get(path));
      await until(() => seen.now === most, 'as many are in progress');
      const other = api.get(otherPath);
      await until(() => seen.now === most + 1, 'one of the other kind is in progress');
      await sleep(100);
      expect(seen.now).to.equal(most + 1);
      const releasing = setInterval(release, 20);
      for (const { status } of await Promise.all([...all, other])) expect(status).to.equal(200);
      clearInterval(releasing);
    });
  }

  it('counts the calls of AI agents as lists', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({
      store,
      app: { mcp: createMcpHandler(createRostrum(store)) },
    });
    const find = { name: 'find_posts', arguments: {} };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: find };
    const headers = { Accept: 'application/json, text/event-stream' };
    const all = Array.from({ length: 10 }, () => api.post(`${api.server.url}/mcp`, body, headers));
    await until(() => seen.now === 4, 'four are in progress');
    await sleep(100);
    expect(seen.now).to.equal(4);
    const releasing = setInterval(release, 20);
    for (const { status } of await Promise.all(all)) expect(status).to.equal(200);
    clearInterval(releasing);
  });

  it('lets clients take turns', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store, app: { trustedProxies: 1 } });
    let served = 0;
    const ask = async (from: string) => {
      expect((await api.get('/posts', { 'X-Forwarded-For': from })).status).to.equal(200);
      served += 1;
    };
    const busy = Array.from({ length: 104 }, () => ask('192.0.2.1'));
    await until(() => seen.now === 4, 'four are in progress');
    await until(() => api.server.connections >= 104, 'the others are waiting');
    await sleep(300);
    const quiet = ask('192.0.2.2');
    await sleep(100);
    const releasing = setInterval(release, 20);
    await quiet;
    expect(served).to.be.below(50);
    await Promise.all(busy);
    clearInterval(releasing);
  });

  for (const [method, what, most] of [
    ['list', 'lists', slotLimits.lists],
    ['create', 'small creations', slotLimits.writes],
    ['update', 'small changes', slotLimits.writes],
    ['get', 'reads', slotLimits.reads],
  ] as const) {
    it(`serves others while a client has 1,200 ${what}, of which 300 can wait`, async () => {
      const { store, seen, release } = stuckStore(method);
      await using api = await startApi({ store, app: { trustedProxies: 1 } });
      const attacker = { 'X-Forwarded-For': '192.0.2.1' };
      const ask = {
        list: () => api.get('/posts', attacker),
        create: () => api.post('/users', { name: 'Ann' }, attacker),
        update: () => api.send('PATCH', '/users/x', attacker, { name: 'Ann' }),
        get: () => api.get('/users/x', attacker),
      }[method];
      let rejected = 0;
      const busy = Array.from({ length: 1200 }, async () => {
        const { status } = await ask();
        if (status === 503) rejected += 1;
      });
      await until(() => seen.now > 0, 'some are in progress');
      await until(() => api.server.connections >= 1200, 'the others have arrived', 20_000);
      await until(() => rejected === 900 - most, 'most of them are rejected', 20_000);
      const releasing = setInterval(release, 5);
      expect((await api.get('/users?limit=1')).status).to.equal(200);
      expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
      await Promise.all(busy);
      clearInterval(releasing);
      expect(rejected).to.equal(900 - most);
    });
  }

  it('counts a small body in many chunks once', async () => {
    const { store, seen, release } = stuckStore('create');
    const metrics = new Metrics();
    await using api = await startApi({ store, app: { metrics } });
    const connection = new RawConnection(api.server);
    const body = JSON.stringify({ name: 'x'.repeat(40) });
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('');
    connection.send(`${post}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    await until(() => seen.now === 1, 'it is in progress');
    expect((await metrics.exposition()).body).to.match(/^rostrum_http_limiter_running 1$/m);
    release();
    expect((await connection.next())?.status).to.equal(201);
  });

  it('rejects a list after 10 seconds in the queue', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store });
    const first = Array.from({ length: 4 }, () => api.get('/posts'));
    await until(() => seen.now === 4, 'four are in progress');
    expectProblem(await api.get('/posts'), 503, 'overloaded');
    release();
    await Promise.all(first);
  });

  it('parses only four large bodies at a time', async () => {
    const { store, seen, release } = stuckStore('create');
    await using api = await startApi({ store });
    const make = async (own: unknown, most: number) => {
      const posts = Array.from({ length: 8 }, () => api.post('/posts', { title: 'x', own }));
      await until(() => seen.now === most, `${most} are in use`);
      await sleep(100);
      expect(seen.now).to.equal(most);
      const releasing = setInterval(release, 20);
      for (const { status } of await Promise.all(posts)) expect(status).to.equal(201);
      clearInterval(releasing);
    };
    await make('x'.repeat(20_000), 4);
    await make('x', 8);
  });

  it('accepts new connections before it has served all queued lists', async () => {
    const store = createMemoryStore();
    const { list } = store.posts;
    let lists = 0;
    store.posts.list = async (request) => {
      const end = performance.now() + 10;
      while (performance.now() < end); // Blocks the event loop, like a large page.
      lists += 1;
      return list.call(store.posts, request);
    };
    await using api = await startApi({ store });
    const asking = Array.from({ length: 100 }, () =>
      new RawConnection(api.server).send(get('/api/v1/posts')).next(),
    );
    await exchange(api.server, get('/livez'));
    expect(lists).to.be.below(75);
    for (const answer of await Promise.all(asking)) expect(answer?.status).to.equal(200);
  });

  it('responds to others between records that take long to read or to change', async () => {
    const store = createMemoryStore();
    const { get: read } = store.posts;
    let reads = 0;
    store.posts.get = async (id) => {
      const end = performance.now() + 25;
      while (performance.now() < end); // Blocks the event loop, like a large record.
      reads += 1;
      return read.call(store.posts, id);
    };
    await using api = await startApi({ store });
    const connections = Array.from({ length: 40 }, () => new RawConnection(api.server));
    const other = new RawConnection(api.server);
    for (const one of [...connections, other]) await one.send(get('/livez')).next();
    const all = connections.map((one) => one.send(get('/api/v1/posts/x')).next());
    await other.send(get('/livez')).next();
    expect(reads).to.be.below(20);
    for (const answer of await Promise.all(all)) expect(answer?.status).to.equal(404);
  });

  it('does no work for clients that disconnected while queued', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store });
    const leaving = Array.from({ length: 40 }, () =>
      new RawConnection(api.server).send(get('/api/v1/posts')),
    );
    await until(() => seen.now === 4, 'four are in progress');
    await until(() => api.server.connections === 40, 'all are waiting');
    await sleep(100);
    for (const { socket } of leaving) socket.resetAndDestroy();
    await until(() => api.server.connections === 0, 'all have gone');
    release();
    await sleep(100);
    expect(seen.all).to.equal(4);
  });

  it('serves the pipelined requests of a client that half-closes its connection', async () => {
    await using api = await startApi();
    const lists = ['/users', '/posts?limit=1000', '/users?limit=2'].map((path) =>
      get(`/api/v1${path}`),
    );
    const connection = new RawConnection(api.server).send(lists.join('')).end();
    for (const _ of lists) expect((await connection.next())?.status).to.equal(200);
  });
});

describe('clients that tie up memory', function () {
  this.timeout(60_000);

  /** A store with 2 MiB of posts, and its rostrum. */
  async function withLargePosts() {
    const store = createMemoryStore();
    const rostrum = createRostrum(store);
    const text = 'x'.repeat(mebibyte - 500);
    for (let n = 0; n < 2; n++) await rostrum.posts.create({ title: 'x', text });
    return { store, rostrum };
  }

  it('are disconnected if they don’t read large responses while others wait', async () => {
    const { store } = await withLargePosts();
    const metrics = new Metrics();
    await using api = await startApi({ store, app: { metrics } });
    const stalled = Array.from({ length: 90 }, () => {
      const connection = new RawConnection(api.server);
      connection.socket.pause();
      return connection.send(get('/api/v1/posts').repeat(8)); // The system buffers the first responses.
    });
    const waiting = async () => {
      const { body } = await metrics.exposition();
      return Number(/^rostrum_http_limiter_waiting (\d+)$/m.exec(body)?.[1]);
    };
    await until(async () => (await waiting()) > 0, 'some are waiting', 20_000);
    for (const path of ['/posts?limit=1', '/users', '/users/x', '/posts']) {
      expect((await api.get(path)).status, path).to.be.oneOf([200, 404]);
    }
    await until(() => api.server.connections < 90, 'stalled clients are disconnected', 20_000);
    for (const { socket } of stalled) socket.destroy();
  });

  it('cannot block other requests in rostrum/fetch either', async () => {
    const { rostrum } = await withLargePosts();
    const handle = createFetchHandler(rostrum);
    const ask = (path: string) => handle(new Request(`http://x/api/v1${path}`));
    const stalled = Array.from({ length: 90 }, () => ask('/posts').catch(() => undefined));
    await sleep(300);
    expect((await ask('/users')).status).to.equal(200);
    const large = await ask('/posts');
    expect(((await large.json()) as { posts: unknown[] }).posts).to.have.lengthOf(1);
    const bodies = (await Promise.all(stalled)).map((response) => response?.body?.getReader());
    const ends = await Promise.all(bodies.map((body) => body?.read().catch(() => 'closed')));
    expect(ends).to.include('closed');
    for (const body of bodies) await body?.cancel().catch(() => {});
  });

  it('lose their slots to other clients if they stall while sending a body', async () => {
    await using api = await startApi();
    const holders = Array.from({ length: 100 }, () =>
      new RawConnection(api.server).send(`${post}Content-Length: ${mebibyte}\r\n\r\n{"name":"`),
    );
    await sleep(200);
    const inChunks = `${post}Transfer-Encoding: chunked\r\n\r\n`;
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    const small = await exchange(api.server, `${inChunks}e\r\n{"name":"Ann"}\r\n0\r\n\r\n`);
    expect(small?.status, 'a small one in chunks').to.equal(201);
    const own = 'x'.repeat(mebibyte - 100);
    const long = JSON.stringify({ name: 'Ann', own });
    const chunk = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
    const waited = await exchange(api.server, `${inChunks}${chunk}`);
    expect(waited?.status, 'a large one in chunks').to.equal(201);
    expect((await api.post('/users', { name: 'Ann', own })).status).to.equal(201);
    expect(await holders[0]?.closed()).to.equal('');
    for (const { socket } of holders) socket.destroy();
  });

  it('lose their slots to other clients if they send many bodies byte by byte', async () => {
    await using api = await startApi();
    const holders = Array.from({ length: 100 }, () => {
      const head = `${post}Content-Length: ${mebibyte}\r\n\r\n{"name":"`;
      const { socket } = new RawConnection(api.server).send(head);
      const timer = setInterval(() => socket.write('x'), 100);
      return socket.on('error', () => {}).once('close', () => clearInterval(timer));
    });
    await sleep(200);
    const own = 'x'.repeat(20_000);
    expect((await api.post('/users', { name: 'Ann', own })).status).to.equal(201);
    for (const socket of holders) socket.destroy();
  });

  it('delay nobody if 2,000 of them stall while sending a small body', async () => {
    await using api = await startApi();
    const begun = `${get('/livez')}${post}Content-Length: 100\r\n\r\n{"name":"`;
    const holders = Array.from({ length: 2000 }, () => new RawConnection(api.server).send(begun));
    for (const holder of holders) expect((await holder.next())?.status).to.equal(200);
    expect((await api.get('/users')).status).to.equal(200);
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    for (const { socket } of holders) socket.destroy();
  });

  it('are disconnected if they send a body in tiny chunks', async () => {
    await using api = await startApi();
    const head = `${post}Transfer-Encoding: chunked\r\n\r\n`;
    const chunksOf = (text: string, length: number) =>
      (text.match(new RegExp(`.{1,${length}}`, 'g')) ?? [])
        .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
        .join('');
    const name = 'x'.repeat(190_000);
    const honest = `${chunksOf(`{"name":"Ann","own":"${name}"}`, 20)}0\r\n\r\n`;
    expect((await exchange(api.server, head + honest))?.status).to.equal(201);
    const tiny = chunksOf('x'.repeat(30_000), 1);
    const holders = Array.from({ length: 10 }, () =>
      new RawConnection(api.server).send(head + tiny),
    );
    for (const holder of holders) expect(await holder.closed()).to.equal('');
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
  });

  it('are disconnected after a while if they keep sending a rejected body', async () => {
    await using api = await startApi();
    const connection = new RawConnection(api.server);
    const { socket } = connection;
    const chunked = 'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n';
    connection.send(`POST /api/v1/users HTTP/1.1\r\n${host}${chunked}\r\n`);
    expect((await connection.next())?.status).to.equal(415);
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    const sending = setInterval(() => socket.write('1\r\nx\r\n'), 50);
    const start = performance.now();
    await closed;
    clearInterval(sending);
    expect(performance.now() - start).to.be.within(1000, 8000);
  });
});
