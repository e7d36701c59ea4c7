import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
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

  it('rejects an operation that already has 256 requests, and still serves others', async () => {
    const { store, seen, release } = stuckStore('get');
    await using api = await startApi({ store });
    const waiting = Array.from({ length: 256 }, () => api.get('/users/x'));
    await until(() => seen.now === 256, 'all are in progress', 30_000);
    const refused = await api.get('/users/x');
    expectProblem(refused, 503, 'overloaded');
    expect(refused.headers.get('Retry-After')).to.equal('1');
    expect((await api.get('/users?limit=1')).status).to.equal(200);
    expect((await api.get(`${api.server.url}/readyz`)).status).to.equal(200);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(404);
    expect((await Promise.all([api.get('/users/x'), sleep(100).then(release)]))[0].status).to.equal(
      404,
    );
  });

  it('serves other operations while thousands of rejections wait', async () => {
    const { store, seen, release } = stuckStore('get');
    const handle = createFetchHandler(createRostrum(store));
    const ask = (path: string) => handle(new Request(`http://x/api/v1${path}`));
    const waiting = Array.from({ length: 256 }, () => ask('/users/x'));
    await until(() => seen.now === 256, 'all are in progress', 30_000);
    const refused = Array.from({ length: 2500 }, () => ask('/users/x'));
    expect((await ask('/users?limit=1')).status).to.equal(200);
    for (const { status } of await Promise.all(refused)) expect(status).to.equal(503);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(404);
  });

  it('rejects a write without reading its body', async () => {
    const { store, seen, release } = stuckStore('create');
    await using api = await startApi({ store });
    const waiting = Array.from({ length: 256 }, () => api.post('/users', { name: 'Ann' }));
    await until(() => seen.now === 256, 'all are in progress', 30_000);
    const refused = await exchange(api.server, `${post}Content-Length: 1000\r\n\r\n`);
    expect([refused?.status, refused?.body.code]).to.deep.equal([503, 'overloaded']);

    const endless = new RawConnection(api.server).send(`${post}Transfer-Encoding: chunked\r\n\r\n`);
    expect((await endless.next())?.status).to.equal(503);
    const chunk = `${mebibyte.toString(16)}\r\n${'x'.repeat(mebibyte)}\r\n`;
    let chunks = 0;
    const sendMore = () => {
      const sent = () => {
        chunks += 1;
        sendMore();
      };
      if (!endless.socket.destroyed) endless.socket.write(chunk, sent);
    };
    sendMore();
    await endless.closed();
    expect(chunks, 'chunks that the system has taken').to.be.below(32);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(201);
  });

  it('runs four lists of an operation at a time, and small pages separately from large ones', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store });
    const large = Array.from({ length: 10 }, () => api.get('/posts'));
    await until(() => seen.now === 4, 'four are in progress');
    const others = [api.get('/posts?limit=1'), api.get('/users')];
    await until(() => seen.now === 6, 'others are in progress');
    await sleep(100);
    expect(seen.now).to.equal(6);
    for (let n = 0; n < 4; n++) {
      release();
      await sleep(50);
    }
    const statuses = (await Promise.all([...large, ...others])).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
  });

  it('rejects a list after 10 seconds in the queue', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store });
    const first = Array.from({ length: 4 }, () => api.get('/posts'));
    await until(() => seen.now === 4, 'four are in progress');
    const start = performance.now();
    expectProblem(await api.get('/posts'), 503, 'overloaded');
    expect(performance.now() - start).to.be.within(9000, 15_000);
    release();
    await Promise.all(first);
  });

  it('runs one change per record at a time, and changes to other records in parallel', async () => {
    const { store, seen, release } = stuckStore('update');
    await using api = await startApi({ store });
    const change = (path: string) => api.send('PATCH', path, {}, { name: 'Bea', title: 'B' });
    const all = Array.from({ length: 3 }, () => change('/users/x'));
    await until(() => seen.now === 1, 'one is in progress');
    const others = [change('/users/y'), change('/posts/x'), api.send('DELETE', '/users/x')];
    await until(() => seen.now === 3, 'those of other records are in progress');
    await sleep(100);
    expect(seen.now).to.equal(3);
    while (seen.now > 0) {
      release();
      await sleep(50);
    }
    const statuses = (await Promise.all([...all, ...others])).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([404]));
  });

  it('parses only a few large bodies at a time', async () => {
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
    await make(Array(100_000).fill({}), 1);
  });

  it('shares the time among operations, however long the requests of one take', async () => {
    const store = createMemoryStore();
    const { list } = store.posts;
    let lists = 0;
    store.posts.list = async (request) => {
      const end = performance.now() + 50;
      while (performance.now() < end); // Blocks the event loop, like a list of very many posts.
      lists += 1;
      return list.call(store.posts, request);
    };
    await using api = await startApi({ store });
    const slow = Array.from({ length: 100 }, () => api.get('/posts'));
    await until(() => lists > 0, 'the lists have begun');
    const before = lists;
    const quick = await Promise.all(Array.from({ length: 40 }, () => api.get('/users/x')));
    expect(lists - before, 'lists during 40 quick requests').to.be.below(20);
    for (const { status } of quick) expect(status).to.equal(404);
    for (const { status } of await Promise.all(slow)) expect(status).to.equal(200);
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
    const asking = Array.from({ length: 200 }, () =>
      new RawConnection(api.server).send(get('/api/v1/posts')).next(),
    );
    await exchange(api.server, get('/livez'));
    expect(lists).to.be.below(150);
    for (const answer of await Promise.all(asking)) expect(answer?.status).to.equal(200);
  });

  it('does no work for clients that disconnected while queued', async () => {
    const { store, seen, release } = stuckStore('list');
    await using api = await startApi({ store });
    const leaving = Array.from({ length: 40 }, () => {
      return new RawConnection(api.server).send(get('/api/v1/posts?limit=1000')).end();
    });
    await until(() => seen.now === 4, 'four are in progress');
    await sleep(1500);
    release();
    const responses = await Promise.all(leaving.map((connection) => connection.next()));
    const statuses = responses.map((one) => one?.status).sort();
    expect(statuses).to.deep.equal([...Array(4).fill(200), ...Array(36).fill(503)]);
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

  it('are disconnected if they don’t read large lists while others wait; small lists are served', async () => {
    const { store } = await withLargePosts();
    const metrics = new Metrics();
    await using api = await startApi({ store, app: { metrics } });
    const stalled = Array.from({ length: 100 }, () => {
      const connection = new RawConnection(api.server);
      connection.socket.pause();
      return connection.send(get('/api/v1/posts').repeat(8)); // The system buffers the first responses.
    });
    const shown = async (name: string) => {
      const { body } = await metrics.exposition();
      return Number(new RegExp(`^rostrum_http_limiter_${name} (\\d+)$`, 'm').exec(body)?.[1]);
    };
    await until(async () => (await shown('waiting')) > 0, 'some are waiting', 20_000);
    for (const path of ['/posts?limit=1', '/users', '/users/x']) {
      expect((await api.get(path)).status, path).to.be.oneOf([200, 404]);
    }
    expect(await shown('waiting'), 'large lists that are still waiting').to.be.above(0);
    // Lists of the same size are served too, once stalled clients are disconnected.
    const isClosed = async () => {
      expect((await api.get('/posts')).status).to.equal(200);
      return (await shown('closed')) > 0;
    };
    await until(isClosed, 'stalled clients are disconnected', 20_000);
    for (const { socket } of stalled) socket.destroy();
  });

  it('cannot block other requests in rostrum/fetch either', async () => {
    const { rostrum } = await withLargePosts();
    const handle = createFetchHandler(rostrum);
    const ask = (path: string) => handle(new Request(`http://x/api/v1${path}`));
    const stalled = Array.from({ length: 120 }, () => ask('/posts').catch(() => undefined));
    await sleep(300);
    const start = performance.now();
    expect((await ask('/posts?limit=1')).status).to.equal(200);
    expect((await ask('/users')).status).to.equal(200);
    expect(performance.now() - start).to.be.below(1000);
    const large = await ask('/posts');
    expect(((await large.json()) as { posts: unknown[] }).posts).to.have.lengthOf(2);
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
