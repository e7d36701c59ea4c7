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

  it('with bodies that do not come: small ones have room, and a large one that comes cuts them', async function () {
    this.timeout(20_000);
    const holders: RawConnection[] = [];
    for (let i = 0; i < 100; i++) holders.push(hold(mebibyte));
    await sleep(200);
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    const inChunks = `POST /api/v1/users HTTP/1.1\r\n${host}${typed}Transfer-Encoding: chunked\r\n\r\n`;
    const small = await exchange(api.server, `${inChunks}e\r\n{"name":"Ann"}\r\n0\r\n\r\n`);
    expect(small?.status, 'a small one in chunks').to.equal(201);
    const body = JSON.stringify({ name: 'Ann', own: 'x'.repeat(1500) });
    const length = `Content-Length: ${body.length}\r\n\r\n`;
    const inTwo = new RawConnection(api.server).send(
      `POST /api/v1/users HTTP/1.1\r\n${host}${typed}${length}${body.slice(0, -50)}`,
    );
    await sleep(50);
    inTwo.send(body.slice(-50));
    expect((await inTwo.next())?.status, 'a small one in two pieces').to.equal(201);
    const own = 'x'.repeat(mebibyte - 100);
    const long = JSON.stringify({ name: 'Ann', own });
    const chunk = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
    const waited = await exchange(api.server, `${inChunks}${chunk}`);
    expect(waited?.status, 'a large one in chunks').to.equal(201);
    expect((await api.post('/users', { name: 'Ann', own })).status).to.equal(201);
    expect(await holders[0]?.closed()).to.equal('');
    for (const { socket } of holders) socket.destroy();
  });

  it('with bodies that take far more when they are parsed: few of them are in use at a time', async () => {
    const store = createMemoryStore();
    let [inUse, gate] = [0, Promise.withResolvers<void>()];
    const { create } = store.posts;
    store.posts.create = async (record, receipt) => {
      inUse += 1;
      await gate.promise;
      inUse -= 1;
      return create.call(store.posts, record, receipt);
    };
    await using slow = await startApi({ store });
    const make = async (own: unknown, most: number) => {
      gate = Promise.withResolvers();
      const posts = Array.from({ length: 8 }, () => slow.post('/posts', { title: 'x', own }));
      await until(() => inUse === most, `${most} are in use`);
      await sleep(100);
      expect(inUse).to.equal(most);
      gate.resolve();
      for (const { status } of await Promise.all(posts)) expect(status).to.equal(201);
    };
    await make(Array(300_000).fill({}), 1);
    await make('x'.repeat(20_000), 4);
    await make('x', 8);
  });

  it('with changes of a record whose id is a word of the server: it bounds nothing else', async () => {
    const store = createMemoryStore();
    const gate = Promise.withResolvers<void>();
    let isChanging = false;
    const { update } = store.users;
    store.users.update = async (id, decide) => {
      isChanging = true;
      await gate.promise;
      return update.call(store.users, id, decide);
    };
    await using server = await startApi({ store });
    const changing = server.send('PATCH', '/users/large%20body', {}, { name: 'Ann' });
    await until(() => isChanging, 'the record is changed');
    const made = server.post('/posts', { title: 'x', own: 'x'.repeat(300_000) });
    const first = await Promise.race([made, sleep(3000)]);
    gate.resolve();
    expect(first?.status).to.equal(201);
    expect((await changing).status).to.equal(404);
  });

  it('and leave, however they do it: what still waits is not made for them', async () => {
    const store = createMemoryStore();
    const gate = Promise.withResolvers<void>();
    let made = 0;
    const { list } = store.posts;
    store.posts.list = async (request) => {
      made += 1;
      await gate.promise;
      return list.call(store.posts, request);
    };
    await using server = await startApi({ store });
    const leaving = Array.from({ length: 40 }, () => {
      return new RawConnection(server.server).send(get('/api/v1/posts?limit=1000')).end();
    });
    await until(() => made === 1, 'one is made');
    await sleep(200);
    gate.resolve();
    const responses = await Promise.all(leaving.map((connection) => connection.next()));
    const statuses = responses.map((one) => one?.status).sort();
    expect(statuses).to.deep.equal([200, ...Array(39).fill(503)]);
    expect(made).to.equal(1);
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
});
