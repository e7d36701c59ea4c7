import { once } from 'node:events';
import { expect } from 'chai';
import { startApi } from './support/api.ts';
import { keepLog } from './support/log.ts';
import { exchange, RawConnection } from './support/raw.ts';
import { slowStore } from './support/slow-store.ts';

describe('the log', () => {
  it('has a line for each request: never a query, a header or a body', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    const secret = { 'X-Request-Id': 'r1', Authorization: 'secret', 'Idempotency-Key': 'secret' };
    await api.post('/users', { name: 'secret', email: 'secret@x.org' }, secret);
    await api.get('/users?name=secret', { 'X-Request-Id': 'r2' });
    await api.get('/users?secret=secret', { 'X-Request-Id': 'r3' });
    expect(lines.map(({ ms: _, ...line }) => line)).to.deep.equal([
      line('r1', 'POST', '/api/v1/users', 201),
      line('r2', 'GET', '/api/v1/users', 200),
      line('r3', 'GET', '/api/v1/users', 400),
    ]);
    expect(lines.every(({ ms }) => typeof ms === 'number' && ms >= 0)).to.equal(true);
    expect(JSON.stringify(lines)).not.to.include('secret');
  });

  it('says when the client did not wait for its answer', async () => {
    const { store, begun, release } = slowStore();
    const { logger, lines } = keepLog();
    await using api = await startApi({ store, app: { logger } });
    const connection = new RawConnection(api.server);
    connection.send('GET /api/v1/users/x HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun();
    connection.socket.resetAndDestroy();
    await once(connection.socket, 'close');
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ level: 'info', aborted: true }).and.not.have.property('status');
  });

  it('says what the server refused by itself', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ serve: { logger } });
    await exchange(api.server, 'nonsense\r\n\r\n');
    await exchange(api.server, 'GET /livez?secret HTTP/1.1\r\nX-Request-Id: r1\r\n\r\n');
    expect(lines).to.have.lengthOf(2);
    expect(lines[0]).to.include({ level: 'info', message: 'refused', code: 'bad-request' });
    expect(lines[1]).to.include({ requestId: 'r1', status: 400, path: '/livez' });
  });

  it('can do without a line for each request', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger, accessLog: false } });
    await api.get('/users');
    expect(lines).to.deep.equal([]);
  });
});

function line(requestId: string, method: string, path: string, status: number) {
  return { level: 'info', message: 'request', requestId, method, path, status };
}
