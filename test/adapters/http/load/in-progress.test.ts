import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { until } from '../../../support/until.ts';
import { expectProblem, startApi } from '../support/api.ts';
import { exchange, RawConnection } from '../support/raw.ts';

const host = 'Host: x\r\n';
const typed = 'Content-Type: application/json\r\n';

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
    users.create = async (make, receipt) => {
      seen.writes += 1;
      await gate.promise;
      return create(make, receipt);
    };
    return { store, seen, release: () => gate.resolve() };
  }

  it('are bounded; the next one is refused at once, and lists and probes are not', async () => {
    const { store, seen, release } = stuckStore();
    await using api = await startApi({ store });
    const waiting: ReturnType<typeof api.get>[] = [];
    while (waiting.length < 1000) {
      // More of one kind at once would be refused for another reason.
      for (let n = 0; n < 100; n++) waiting.push(api.get('/users/x'));
      await until(() => seen.reads === waiting.length, 'all are in progress', 30_000);
    }
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
    const { socket } = new RawConnection(api.server).send(
      head.replace('Content-Length: 1000', 'Transfer-Encoding: chunked'),
    );
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let sent = 0;
    while (!socket.destroyed) {
      sent += 1;
      const drained = new Promise((resolve) => socket.once('drain', resolve));
      if (!socket.write(chunk)) await Promise.race([drained, closed]);
    }
    expect(sent, 'what buffers of the system take').to.be.below(256);
    release();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(201);
  });
});
