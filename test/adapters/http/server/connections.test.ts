import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Caller } from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import { startApi } from '../support/api.ts';
import { exchange, RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

const host = 'Host: x\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;

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
    connection.send(get(`/api/v1/users/${id}`).repeat(250));
    for (let i = 0; i < 250; i++) expect((await connection.next())?.body.id).to.equal(id);
    expect(seen).to.deep.equal({ now: 0, most: 1, all: 250 });
    connection.socket.destroy();
  });

  it('do not delay requests of other connections', async () => {
    const { store, seen } = countingStore(0);
    await using api = await startApi({ store });
    const { id } = await api.make('/users', { name: 'Ann', own: 'x'.repeat(mebibyte - 100) });
    const greedy = Array.from({ length: 4 }, () =>
      new RawConnection(api.server).send(get(`/api/v1/users/${id}`).repeat(250)),
    );
    await Promise.all(greedy.map((connection) => connection.next()));
    expect((await exchange(api.server, get('/livez')))?.status).to.equal(200);
    expect(seen.all).to.be.below(200);
    for (const { socket } of greedy) socket.destroy();
  });

  it('are served up to the limit of a connection, which then closes', async () => {
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

  it('have a limit across all connections', async () => {
    const { store, begun, release } = slowStore();
    await using api = await startApi({ store });
    const open = async (waiting: number) => {
      const connection = new RawConnection(api.server).send(get('/api/v1/users/x'));
      await begun();
      connection.send(get('/livez').repeat(waiting));
      await until(() => connection.socket.writableLength === 0, 'the requests are sent');
      return connection;
    };
    const full = await Promise.all(Array.from({ length: 16 }, () => open(256)));
    // When the server responds to a later request, it has read the earlier ones.
    const allRead = () => new RawConnection(api.server).send(get('/livez')).next();
    await allRead();
    const last = await open(1);
    await allRead();
    release();
    const response = await last.next();
    expect(response?.status).to.equal(404);
    expect(response?.headers.get('connection')).to.equal('close');
    expect(await last.closed()).to.equal('');
    for (const connection of full) {
      expect((await connection.next())?.status).to.equal(404);
      expect((await connection.next())?.status).to.equal(200);
      connection.socket.destroy();
    }
  });

  for (const [count, most] of [
    [1, 0],
    [3, 1], // The server does not read while requests are queued: only a failed write reveals it.
  ] as const) {
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
      expect(seen.all).to.equal(most);
    });
  }
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
