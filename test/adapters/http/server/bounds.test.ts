import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { json, sendInTurn } from '../../../../src/adapters/http/response.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Caller } from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { exchange, RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

const host = 'Host: x\r\n';
const typed = 'Content-Type: application/json\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;

/** A store of the memory kind that counts how many of its reads are under way. */
function countingStore() {
  const store = createMemoryStore();
  const seen = { now: 0, most: 0, all: 0 };
  const { get: read } = store.users;
  store.users.get = async (id) => {
    seen.all += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await sleep(1);
    seen.now -= 1;
    return read.call(store.users, id);
  };
  return { store, seen };
}

describe('requests of one connection', () => {
  it('are served one after another, however many come in one packet', async () => {
    const { store, seen } = countingStore();
    await using api = await startApi({ store });
    const { id } = await api.make('/users', { name: 'Ann' });
    const connection = new RawConnection(api.server);
    connection.send(get(`/api/v1/users/${id}`).repeat(250));
    for (let i = 0; i < 250; i++) expect((await connection.next())?.body.id).to.equal(id);
    expect(seen).to.deep.equal({ now: 0, most: 1, all: 250 });
    connection.socket.destroy();
  });

  it('do not keep those of others waiting', async () => {
    await using api = await startApi();
    const { id } = await api.make('/users', { name: 'Ann', own: 'x'.repeat(mebibyte - 100) });
    const greedy = Array.from({ length: 4 }, () =>
      new RawConnection(api.server).send(get(`/api/v1/users/${id}`).repeat(250)),
    );
    await Promise.all(greedy.map((connection) => connection.next()));
    const start = performance.now();
    expect((await exchange(api.server, get('/livez')))?.status).to.equal(200);
    expect(performance.now() - start).to.be.below(500);
    for (const { socket } of greedy) socket.destroy();
  });

  it('get as many responses as may wait, and the last of them says that it is', async () => {
    const { store, begun, release } = slowStore();
    await using api = await startApi({ store });
    const connection = new RawConnection(api.server);
    connection.send(get('/api/v1/users/x'));
    await begun();
    connection.send(get('/livez').repeat(300));
    setTimeout(release, 50);
    expect((await connection.next())?.status).to.equal(404);
    for (let waited = 1; waited <= 256; waited++) {
      const response = await connection.next();
      expect(response?.status).to.equal(200);
      const isLast = waited === 256;
      expect(response?.headers.get('connection')).to.equal(isLast ? 'close' : 'keep-alive');
    }
    expect(await connection.closed()).to.equal('');
  });

  for (const [count, most] of [
    [1, 0],
    [3, 1], // Nothing is read of a connection while requests wait: only a write tells.
  ] as const) {
    it(`are not served when their client is gone (${count} of them)`, async () => {
      const gate = Promise.withResolvers<Caller>();
      const asked = Promise.withResolvers<void>();
      const authenticate = () => {
        asked.resolve();
        return gate.promise;
      };
      const { store, seen } = countingStore();
      await using api = await startApi({ store, app: { authenticate } });
      const connection = new RawConnection(api.server);
      connection.send(get('/api/v1/users/x').repeat(count));
      await asked.promise;
      connection.socket.resetAndDestroy();
      await sleep(50);
      gate.resolve({ name: 'a', subject: null, scopes: new Set(['users:read']) });
      await sleep(50);
      expect(seen.all).to.equal(most);
    });
  }
});

describe('clients that hold memory', () => {
  let api: Api;
  before(async () => {
    const limits = { stallTimeoutMs: 200, checkIntervalMs: 50 };
    api = await startApi({ serve: { limits } });
  });
  after(() => api[Symbol.asyncDispose]());

  /** Announces a body and holds most of it back. */
  function hold(bytes: number): RawConnection {
    const head = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Content-Length: ${bytes}\r\n\r\n`;
    return new RawConnection(api.server).send(`${head}{"name":"`);
  }

  it('with bodies that do not come: others are told 503, small bodies have room, the oldest is cut', async function () {
    this.timeout(60_000);
    const holders: RawConnection[] = [];
    for (let i = 0; i < 64; i++) holders.push(hold(mebibyte));
    await sleep(200);
    const refused = await hold(mebibyte).next();
    expect([refused?.status, refused?.body.code]).to.deep.equal([503, 'overloaded']);
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    await sleep(2000);
    const own = 'x'.repeat(mebibyte - 100);
    expect((await api.post('/users', { name: 'Ann', own })).status).to.equal(201);
    expect(await holders[0]?.closed()).to.equal('');
    expect(holders[63]?.socket.closed).to.equal(false);
    for (const { socket } of holders) socket.destroy();
  });

  it('with bodies that take far more when they are parsed: one of them is in use at a time', async () => {
    const store = createMemoryStore();
    const seen = { now: 0, most: 0 };
    const { create } = store.posts;
    store.posts.create = async (make, claim) => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await sleep(20);
      seen.now -= 1;
      return create.call(store.posts, make, claim);
    };
    await using slow = await startApi({ store });
    const post = (own: unknown) => slow.post('/posts', { title: 'x', own });
    const large = Array.from({ length: 8 }, () => post(Array(300_000).fill({})));
    for (const { status } of await Promise.all(large)) expect(status).to.equal(201);
    expect(seen.most).to.equal(1);
    for (const { status } of await Promise.all(Array.from({ length: 8 }, () => post('x')))) {
      expect(status).to.equal(201);
    }
    expect(seen.most, 'small ones').to.be.above(1);
  });

  it('with a body that is refused: no more than a part of it is read', async () => {
    await using patient = await startApi();
    const connection = new RawConnection(patient.server);
    const { socket } = connection;
    const typed = 'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n';
    connection.send(`POST /api/v1/users HTTP/1.1\r\n${host}${typed}\r\n`);
    expect((await connection.next())?.status).to.equal(415);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let sent = 0;
    const gone = new Promise((closed) => socket.once('close', closed));
    while (!socket.destroyed && sent < 1024) {
      sent += 1;
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => gone), gone]);
    }
    // Of these 64 MiB, 4 are read; some more lie in buffers of the system.
    expect(sent).to.be.within(64, 512);
  });

  it('by not taking a response: they are cut off', async () => {
    const own = 'x'.repeat(mebibyte - 100);
    for (let i = 0; i < 12; i++) await api.make('/posts', { title: 'x', own });
    const stalled = new RawConnection(api.server);
    stalled.socket.pause();
    for (let i = 0; i < 12; i++) stalled.send(get('/api/v1/posts?limit=2'));
    await once(stalled.socket, 'connect');
    await sleep(1000);
    stalled.socket.resume();
    const received = await stalled.closed();
    expect(received.length).to.be.within(1, 20 * mebibyte);
  });

  it('by not taking responses to changes: those who hold one longest are cut off at once', async () => {
    let cut = 0;
    const requestEnded = (_endpoint: string, status?: number) => {
      if (status === undefined) cut += 1;
    };
    const metrics = { requestBegan() {}, requestEnded, problem() {} };
    await using patient = await startApi({ app: { metrics } });
    const own = 'x'.repeat(mebibyte - 100);
    const { id } = await patient.make('/posts', { title: 'x', own });
    const body = '{"title":"y"}';
    const merge = 'Content-Type: application/merge-patch+json\r\n';
    const patch = `PATCH /api/v1/posts/${id} HTTP/1.1\r\n${host}${merge}Content-Length: ${body.length}\r\n\r\n${body}`;
    // The first responses of each lie in buffers of the system.
    const holders = Array.from({ length: 24 }, () => new RawConnection(patient.server));
    for (const holder of holders) {
      holder.socket.pause();
      holder.send(patch.repeat(12));
    }
    await until(() => cut > 0, 'the oldest are cut off, long before they stall', 15_000);
    expect(cut).to.be.below(16);
    for (const { socket } of holders) socket.destroy();
  });
});

describe('requests in progress', function () {
  this.timeout(60_000);

  /** A store whose records wait, once they are asked for or made, until they are let go. */
  function stuckStore() {
    const store = createMemoryStore();
    const gate = Promise.withResolvers<void>();
    const seen = { reads: 0, writes: 0 };
    const { users } = store;
    const [read, create] = [users.get.bind(users), users.create.bind(users)];
    users.get = async (id) => {
      seen.reads += 1;
      await gate.promise;
      return read(id);
    };
    users.create = async (make, claim) => {
      seen.writes += 1;
      await gate.promise;
      return create(make, claim);
    };
    return { store, seen, release: () => gate.resolve() };
  }

  it('are bounded; the next one is refused at once, and lists and probes are not', async () => {
    const { store, seen, release } = stuckStore();
    await using api = await startApi({ store });
    const waiting = Array.from({ length: 1000 }, () => api.get('/users/x'));
    await until(() => seen.reads === 1000, 'all are in progress', 30_000);
    const refused = await api.get('/users/x');
    expectProblem(refused, 503, 'overloaded');
    expect(refused.headers.get('Retry-After')).to.match(/^[1-5]$/);
    expect((await api.get('/users?limit=1')).status).to.equal(200);
    expect((await api.get(`${api.server.url}/readyz`)).status).to.equal(200);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(404);
    expect((await api.get('/users/x')).status).to.equal(404);
  });

  it('refuse a change before its body is read', async () => {
    const { store, seen, release } = stuckStore();
    await using api = await startApi({ store });
    const waiting = Array.from({ length: 1000 }, () => api.post('/users', { name: 'Ann' }));
    await until(() => seen.writes === 1000, 'all are in progress', 30_000);
    const head = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Content-Length: 1000\r\n\r\n`;
    const refused = await exchange(api.server, head);
    expect([refused?.status, refused?.body.code]).to.deep.equal([503, 'overloaded']);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(201);
  });

  it('that are refused are answered before the turn of the event loop is over', async () => {
    const seen: boolean[] = [];
    await using server = createServer((request, response) => {
      setImmediate(() => seen.push(response.headersSent));
      sendInTurn(request, response, json(request.url === '/' ? 200 : 503, '{}'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const post = `POST /full HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    for (const text of [
      `GET / HTTP/1.1\r\n${host}\r\n`,
      `GET /full HTTP/1.1\r\n${host}\r\n`,
      post,
    ]) {
      socket.write(text);
      await once(socket, 'data');
    }
    socket.destroy();
    expect(seen).to.deep.equal([false, true, true]);
  });
});
