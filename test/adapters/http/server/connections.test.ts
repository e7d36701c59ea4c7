import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Caller } from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import { startApi } from '../support/api.ts';
import { RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

const host = 'Host: x\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;

/** A memory store that counts its concurrent reads. */
function countingStore(ms = 1) {
  const store = createMemoryStore();
  const seen = { now: 0, most: 0, all: 0 };
  const { get: read } = store.users;
  store.users.get = async (id) => {
    seen.all += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    if (ms > 0) await sleep(ms);
    seen.now -= 1;
    return read.call(store.users, id);
  };
  return { store, seen };
}

describe('pipelined requests', () => {
  it('are served one at a time, even if they arrive in one packet', async () => {
    const { store, seen } = countingStore();
    await using api = await startApi({ store });
    const { id } = await api.make('/users', { name: 'Ann' });
    const connection = new RawConnection(api.server);
    connection.send(get(`/api/v1/users/${id}`).repeat(16));
    for (let i = 0; i < 16; i++) expect((await connection.next())?.body.id).to.equal(id);
    expect(seen).to.deep.equal({ now: 0, most: 1, all: 16 });
    connection.socket.destroy();
  });

  for (const count of [1, 3]) {
    it(`are not served after the client has disconnected (${count} pipelined)`, async () => {
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
      expect(seen.all).to.equal(0);
      expect(new Error('x').stack, 'stacks').to.match(/\n +at /);
    });
  }
});

describe('requests with long headers', () => {
  const long = `X-Long: ${'x'.repeat(30_000)}\r\n`;

  it('close their connections once those that wait for earlier ones have 32 MiB', async () => {
    const { store, release } = slowStore();
    await using api = await startApi({ store });
    const connections = Array.from({ length: 80 }, () =>
      new RawConnection(api.server).send(get('/api/v1/users/x')),
    );
    await until(() => api.server.connections === 80, 'all are open');
    for (const one of connections) {
      one.send(`GET /livez HTTP/1.1\r\n${host}${long}\r\n`.repeat(15));
    }
    await until(() => api.server.connections < 80, 'some are closed');
    expect(api.server.connections).to.be.above(60);
    release();
    for (const { socket } of connections) socket.destroy();
  });

  it('close their connections once those with a body that stalls have 32 MiB, but no others', async () => {
    await using api = await startApi();
    const body = 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n';
    const stalled = Array.from({ length: 1400 }, () =>
      new RawConnection(api.server).send(`POST /api/v1/users HTTP/1.1\r\n${host}${long}${body}`),
    );
    await stalled.at(-1)?.closed();
    expect(api.server.connections).to.be.within(1000, 1399);
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
    for (const { socket } of stalled) socket.destroy();
  });
});

describe('connections', () => {
  it('beyond the limit replace the connection that has been idle longest', async () => {
    const { store, begun, release } = slowStore();
    await using small = await startApi({ store, serve: { limits: { maxConnections: 3 } } });
    const live = `GET /livez HTTP/1.1\r\n${host}\r\n`;
    const open = async (request: string) => {
      const connection = new RawConnection(small.server).send(request);
      if (request !== '') expect((await connection.next())?.status).to.equal(200);
      return connection;
    };
    const [first, second] = [await open(live), await open(live)];
    const never = await open('');
    await until(() => small.server.connections === 3, 'all connections are open');
    first.send(`GET /api/v1/users/x HTTP/1.1\r\n${host}\r\n`);
    await begun();
    const third = await open(live);
    expect(await never.closed(), 'without a request').to.equal('');
    await open(live);
    await second.closed();
    third.send(`GET /api/v1/users/x HTTP/1.1\r\n${host}\r\n`);
    expect(small.server.connections).to.equal(3);
    release();
    expect((await first.next())?.status, 'of a request in progress').to.equal(404);
    await third.next();
  });

  it('are closed if silent for too long during a request', async () => {
    const { store, release } = slowStore();
    await using brief = await startApi({ store, serve: { limits: { inactivityTimeoutMs: 100 } } });
    const connection = new RawConnection(brief.server);
    connection.send(`GET /api/v1/users/x HTTP/1.1\r\n${host}\r\n`);
    expect(await connection.closed()).to.equal('');
    release();
  });

  it('are closed after the keep-alive timeout', async () => {
    const limits = { keepAliveTimeoutMs: 100, checkIntervalMs: 50 };
    await using brief = await startApi({ serve: { limits } });
    const connection = new RawConnection(brief.server);
    connection.send(`GET /livez HTTP/1.1\r\n${host}\r\n`);
    expect((await connection.next())?.status).to.equal(200);
    expect(await connection.closed()).to.equal('');
  });
});
