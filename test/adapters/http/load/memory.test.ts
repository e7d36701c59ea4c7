import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { until } from '../../../support/until.ts';
import { type Api, startApi } from '../support/api.ts';
import { exchange, RawConnection } from '../support/raw.ts';

const host = 'Host: x\r\n';
const typed = 'Content-Type: application/json\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;

describe('clients that hold memory', () => {
  let api: Api;
  before(async () => {
    const limits = { stallTimeoutMs: 200, checkIntervalMs: 50 };
    api = await startApi({ serve: { limits } });
  });
  after(() => api[Symbol.asyncDispose]());

  /** Announces a body and holds most of it back. */
  function hold(bytes: number, { server }: Api = api): RawConnection {
    const head = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Content-Length: ${bytes}\r\n\r\n`;
    return new RawConnection(server).send(`${head}{"name":"`);
  }

  it('with bodies that do not come: others are told 503, small bodies have room, the oldest is cut', async function () {
    this.timeout(60_000);
    const holders: RawConnection[] = [];
    for (let i = 0; i < 64; i++) holders.push(hold(mebibyte));
    await sleep(200);
    const refused = await hold(mebibyte).next();
    expect([refused?.status, refused?.body.code]).to.deep.equal([503, 'overloaded']);
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    const inChunks = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Transfer-Encoding: chunked\r\n\r\n`;
    const small = await exchange(api.server, `${inChunks}e\r\n{"name":"Ann"}\r\n0\r\n\r\n`);
    expect(small?.status, 'a small one in chunks').to.equal(201);
    expect((await exchange(api.server, `${inChunks}2\r\n{"\r\n`))?.status).to.equal(503);
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

  it('and leave while a large body waits: it is not parsed', async () => {
    const store = createMemoryStore();
    const gate = Promise.withResolvers<void>();
    const { create } = store.posts;
    let isMaking = false;
    store.posts.create = async (make, claim) => {
      isMaking = true;
      await gate.promise;
      return create.call(store.posts, make, claim);
    };
    await using server = await startApi({ store });
    const body = JSON.stringify({ title: 'x', own: 'x'.repeat(900_000) });
    const made = server.post('/posts', body);
    await until(() => isMaking, 'the first is in use');
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = (text: string, ...rest) => {
      if (text.length > 800_000) parsed += 1;
      return parse(text, ...rest);
    };
    try {
      const head = `POST /api/v1/posts HTTP/1.1\r\n${host}${typed}Content-Length: ${body.length}\r\n\r\n`;
      const leaving = new RawConnection(server.server).send(head + body);
      await until(() => leaving.socket.writableLength === 0, 'the second one is sent');
      await sleep(100);
      leaving.socket.resetAndDestroy();
      await until(() => server.server.connections === 1, 'it left');
      gate.resolve();
      expect((await made).status).to.equal(201);
      expect((await server.post('/posts', body)).status).to.equal(201);
    } finally {
      JSON.parse = parse;
    }
    expect(parsed).to.equal(3); // The last body, and two responses by the test itself.
  });

  it('and leave, however they do it: what still waits is not made for them', async () => {
    const store = createMemoryStore();
    let made = 0;
    const { list } = store.posts;
    store.posts.list = (request) => {
      made += 1;
      return list.call(store.posts, request);
    };
    await using server = await startApi({ store });
    const body = 'x'.repeat(90_000);
    for (let n = 0; n < 20; n++) await server.post('/posts', { title: 'x', body });
    const leaving = Array.from({ length: 40 }, () => {
      return new RawConnection(server.server).send(get('/api/v1/posts?limit=1000')).end();
    });
    const responses = await Promise.all(leaving.map((connection) => connection.next()));
    const count = (status: number) => responses.filter((one) => one?.status === status).length;
    expect(count(200) + count(503)).to.equal(40);
    expect(count(503)).to.be.above(0);
    expect(made).to.equal(count(200));
  });

  it('and only half close: what waits for nobody else is made for them, one after another', async () => {
    const lists = ['/users', '/posts?limit=1000', '/users?limit=2'].map((path) =>
      get(`/api/v1${path}`),
    );
    const connection = new RawConnection(api.server).send(lists.join('')).end();
    for (const _ of lists) expect((await connection.next())?.status).to.equal(200);
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

  it('with a body that is refused, in tiny pieces: these count for more than their bytes', async () => {
    await using patient = await startApi();
    const connection = new RawConnection(patient.server);
    const { socket } = connection;
    const chunked = 'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n';
    connection.send(`POST /api/v1/users HTTP/1.1\r\n${host}${chunked}\r\n`);
    expect((await connection.next())?.status).to.equal(415);
    const gone = new Promise((closed) => socket.once('close', () => closed('cut off')));
    connection.send('1\r\nx\r\n'.repeat(20_000));
    // Whoever sends more bytes than that in longer pieces may go on for 2 s.
    expect(await Promise.race([gone, sleep(1000)])).to.equal('cut off');
  });

  it('with bodies in tiny pieces, which count for more than their bytes', async () => {
    await using patient = await startApi();
    const head = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Transfer-Encoding: chunked\r\n\r\n`;
    const chunksOf = (text: string, length: number) =>
      (text.match(new RegExp(`.{1,${length}}`, 'g')) ?? [])
        .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
        .join('');
    const name = 'x'.repeat(190_000);
    const honest = `${chunksOf(`{"name":"Ann","own":"${name}"}`, 20)}0\r\n\r\n`;
    expect((await exchange(patient.server, head + honest))?.status).to.equal(201);
    const before = process.memoryUsage().rss;
    const tiny = chunksOf('x'.repeat(300_000), 1);
    const holders = Array.from({ length: 10 }, () => {
      return new RawConnection(patient.server).send(head + tiny);
    });
    for (const holder of holders) expect(await holder.closed()).to.equal('');
    expect((process.memoryUsage().rss - before) / mebibyte).to.be.below(400); // Of 1800.
    expect((await patient.post('/users', { name: 'Ann' })).status).to.equal(201);
  });

  it('with small bodies that do not come: the oldest is cut for another', async function () {
    this.timeout(20_000);
    await using patient = await startApi();
    let cut = 0;
    const holders = Array.from({ length: 1034 }, () => {
      const holder = hold(16 * 1024, patient);
      void holder.closed().then(() => (cut += 1));
      return holder;
    });
    await until(() => cut === 10, 'all but 1024 of them are cut');
    expect((await patient.post('/users', { name: 'Ann' })).status).to.equal(201);
    for (const { socket } of holders) socket.destroy();
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
