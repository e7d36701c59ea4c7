import { expect } from 'chai';
import { createRostrum } from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import { startApi } from '../support/api.ts';
import { RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('shutting down', () => {
  it('finishes a request in progress, then closes its connection', async () => {
    const { store, begun, release } = slowStore();
    const { server } = await startApi({ store });
    const busy = new RawConnection(server).send(get('/api/v1/users/x'));
    await begun();
    const closed = server.close();
    release();
    const answer = await busy.next();
    expect([answer?.status, answer?.body.code]).to.deep.equal([404, 'user-not-found']);
    expect(answer?.headers.get('connection')).to.equal('close');
    await busy.closed();
    await closed;
  });

  it('returns 503 to new requests on open connections, except /livez', async () => {
    const { store, begun, release } = slowStore();
    const { server } = await startApi({ store });
    const busy = new RawConnection(server).send(get('/api/v1/users/x'));
    const late = ['/readyz', '/api/v1/users', '/nothing'].map((path) => ({
      path,
      connection: new RawConnection(server).send('GET '),
    }));
    const live = new RawConnection(server).send('GET ');
    await begun();
    await until(() => server.connections === 5, 'all clients are connected');
    const closed = server.close();
    for (const { path, connection } of late) {
      const answer = await connection.send(get(path).slice(4)).next();
      expect([answer?.status, answer?.body.code], path).to.deep.equal([503, 'shutting-down']);
      expect(answer?.headers.get('retry-after')).to.match(/^\d+$/);
      expect(answer?.headers.get('connection')).to.equal('close');
      connection.socket.destroy();
    }
    expect((await live.send(get('/livez').slice(4)).next())?.status).to.equal(200);
    release();
    expect((await busy.next())?.status).to.equal(404);
    await closed;
  });

  it('returns 503 on new connections until requests in progress are done', async () => {
    const { store, begun, release } = slowStore();
    const { server } = await startApi({ store });
    const busy = new RawConnection(server).send(get('/api/v1/users/x'));
    await begun();
    const closed = server.close();
    for (let i = 0; i < 3; i++) {
      for (const [path, status] of [
        ['/readyz', 503],
        ['/api/v1/users', 503],
        ['/livez', 200],
      ] as const) {
        const probe = new RawConnection(server).send(get(path));
        const answer = await probe.next();
        expect([answer?.status, answer?.headers.get('connection')], path).to.deep.equal([
          status,
          'close',
        ]);
        await probe.closed();
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    release();
    expect((await busy.next())?.status).to.equal(404);
    await closed;
    expect(await new RawConnection(server).send(get('/livez')).next()).to.equal(undefined);
  });

  it('aborts requests that exceed the shutdown timeout', async () => {
    const { store, begun, release } = slowStore();
    const { server } = await startApi({ store, serve: { shutdownTimeoutMs: 300 } });
    const busy = new RawConnection(server).send(get('/api/v1/users/x'));
    await begun();
    const start = performance.now();
    const closed = Promise.all([server.close(), server.close()]);
    let done = false;
    const probing = (async () => {
      while (!done) await new RawConnection(server).send(get('/readyz')).closed();
    })();
    await closed;
    done = true;
    expect(performance.now() - start).to.be.at.least(250);
    expect(await busy.closed()).to.equal('');
    release();
    await probing;
    await server.close();
  });

  it('does not wait for idle connections', async () => {
    const { server } = await startApi({ serve: { shutdownTimeoutMs: 600_000 } });
    const used = new RawConnection(server).send(get('/livez'));
    await used.next();
    const silent = new RawConnection(server);
    const partial = new RawConnection(server).send('GET /liv');
    await until(() => server.connections === 3, 'all clients are connected');
    await server.close();
    for (const connection of [used, silent, partial]) await connection.closed();
  });

  it('waits for a body that is still arriving', async () => {
    const { server, store } = await startApi();
    const body = '{"name":"Late"}';
    const busy = new RawConnection(server).send(
      `POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect((await busy.next())?.status, 'the head has arrived').to.equal(100);
    busy.send(body.slice(0, 5));
    const closed = server.close();
    const answer = await busy.send(body.slice(5)).next();
    expect([answer?.status, answer?.headers.get('connection')]).to.deep.equal([201, 'close']);
    await closed;
    const { items } = await createRostrum(store).users.list({ filter: { name: 'Late' } });
    expect(items).to.have.lengthOf(1);
  });
});
