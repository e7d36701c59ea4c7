import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { storeUnavailable } from '../../../../src/domain/errors.ts';
import { until } from '../../../support/until.ts';
import { startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { keepLog } from '../support/log.ts';
import { exchange, RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

describe('the log', () => {
  it('has a line for each request, without its query, headers or body', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    const secret = { 'X-Request-Id': 'r1', Authorization: 'secret', Cookie: 'secret' };
    await api.post('/users', { name: 'secret', email: 'secret@x.org' }, secret);
    await api.get('/users?name=secret', { 'X-Request-Id': 'r2' });
    await api.get('/users?secret=secret', { 'X-Request-Id': 'r3' });
    const requests = lines.filter(({ message }) => message === 'request');
    expect(requests.map(({ ms: _, bytes: __, ...line }) => line)).to.deep.equal([
      { ...line('r1', 'POST', '/api/v1/users'), endpoint: 'createUser', status: 201 },
      { ...line('r2', 'GET', '/api/v1/users'), endpoint: 'listUsers', status: 200 },
      {
        ...line('r3', 'GET', '/api/v1/users'),
        ...{ endpoint: 'listUsers', status: 400, code: 'invalid-query' },
      },
    ]);
    expect(requests.every(({ ms }) => typeof ms === 'number' && ms >= 0)).to.equal(true);
    for (const target of [
      'ftp://me:secret@x/a?secret',
      'http://me:secret@x/a',
      '/a#secret?secret',
    ]) {
      await exchange(api.server, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    }
    const paths = lines.slice(-3).map(({ path, status }) => `${status} ${path}`);
    expect(paths).to.deep.equal(Array(3).fill('400 /a'));
    expect(JSON.stringify(lines)).not.to.include('secret');
  });

  it('masks API keys and tokens in paths, user agents and request ids', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    const key = 'rk_0a1b2c3d4e5f_secretsecretsecretsecretsecretsecretsecret1';
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.secretsecret.secret-secret_secret';
    for (const token of [key, jwt, `Bearer%20${key}`, `Bearer%20${jwt}`, `my_${key}`]) {
      await api.get(`/users/${token}`, { 'User-Agent': `a ${token}`, 'X-Request-Id': token });
      const target = `/x/${token}`;
      await exchange(
        api.server,
        `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${token}\r\n\r\n`,
      );
    }
    expect(lines.map(({ path }) => path)).to.include.members(['/api/v1/users/***', '/x/***']);
    const authenticate = () => ({ refused: 'unknown' });
    await using closed = await startApi({ app: { logger, authenticate } });
    await closed.get('/users', { Authorization: 'x', 'X-Request-Id': key });
    expect(lines.find(({ level }) => level === 'warn')).to.include({ requestId: '***' });
    expect(JSON.stringify(lines)).not.to.include('secret');
  });

  it('names the invalid fields of a record, but not their values', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    await api.post('/users', { name: ' ', email: 'my secret', 'a/b': 1e300 });
    await api.get('/users?limit=secret');
    const [line, other] = lines.filter(({ message }) => message === 'request');
    expect(line).to.deep.include({ status: 422, fields: ['/name', '/email', '/a~1b'] });
    expect(other).not.to.have.property('fields');
    expect(JSON.stringify(lines)).not.to.include('secret');
  });

  it('has the number of bytes sent, for every kind of response', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    const connection = new RawConnection(api.server);
    for (const target of ['/api/v1/users?limit=1', '/nothing', '/api/v1/users', '/openapi.json']) {
      for (const method of ['GET', 'HEAD']) {
        const { bytesRead } = connection.socket;
        await connection.send(`${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`).next(method);
        await until(() => lines.length > 0, 'the request is logged');
        expect(lines.pop()?.bytes).to.equal(connection.socket.bytesRead - bytesRead);
      }
    }
    connection.socket.destroy();
  });

  it('has the status of a request that was rejected before its body arrived', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger, authenticate } });
    const connection = new RawConnection(api.server);
    connection.send('POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
    expect((await connection.next())?.status).to.equal(401);
    connection.socket.destroy();
    await until(() => lines.length > 0, 'the request is logged');
    expect(lines[0])
      .to.include({ status: 401, code: 'unauthenticated' })
      .and.not.have.key('aborted');
  });

  it('names the caller, and the client address reported by a trusted proxy', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger, authenticate, trustedProxies: 1 } });
    const ada = as({ name: 'ada', scopes: ['users:read'] });
    const headers = {
      ...ada,
      'X-Forwarded-For': '1.1.1.1, 2001:db8::7',
      'User-Agent': 'x'.repeat(999),
    };
    await api.get('/users', headers);
    await api.get('/posts', headers);
    await api.get('/users', { 'X-Forwarded-For': '198.51.100.7' });
    const expected = { caller: 'ada', address: '2001:db8::7', userAgent: 'x'.repeat(256) };
    expect(lines[0]).to.include({ ...expected, status: 200 });
    expect(lines[1]).to.include({ ...expected, status: 403, code: 'forbidden' });
    expect(lines[2])
      .to.include({ address: '198.51.100.7', status: 401 })
      .and.not.have.key('caller');
  });

  it('has probes at level debug', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    await api.get(`${api.server.url}/livez`);
    await api.get(`${api.server.url}/readyz`);
    await api.get(`${api.server.url}/problems/internal`);
    const endpoints = lines.map(({ level, endpoint }) => [level, endpoint]);
    expect(endpoints).to.deep.equal([
      ['debug', '/livez'],
      ['debug', '/readyz'],
      ['info', '/problems'],
    ]);
  });

  it('has the trace id of a well-formed traceparent', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { logger } });
    const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const good = [
      `00-${trace}-${parent}-01`,
      `01-${trace}-${parent}-ff-more`,
      `fe-${trace}-${parent}-00`,
    ];
    for (const traceparent of good) {
      await api.get('/users', { traceparent });
      expect(lines.pop(), traceparent).to.include({ traceId: trace });
    }
    const malformed = [
      ...['', 'x', trace, `00-${trace}-${parent}`, `00-${trace}-${parent}-1`],
      ...[`01-${trace}-${parent}-01more`, `00-${trace.toUpperCase()}-${parent}-01`],
      `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
      ...[`ff-${trace}-${parent}-01`, `00-${'0'.repeat(32)}-${parent}-01`],
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace}-${parent}-01-more`,
    ];
    for (const traceparent of malformed) {
      await api.get('/users', { traceparent });
      expect(lines.pop(), traceparent).to.not.have.property('traceId');
    }
  });

  it('marks requests whose client disconnected as aborted', async () => {
    const { store, begun, release } = slowStore();
    const { logger, lines } = keepLog();
    await using api = await startApi({ store, app: { logger } });
    const connection = new RawConnection(api.server);
    connection.send('GET /api/v1/users/x HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun();
    connection.socket.resetAndDestroy();
    await until(() => api.server.connections === 0, 'the server sees it');
    release();
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ level: 'info', aborted: true }).and.not.have.property('status');
  });

  it('has requests that the HTTP parser rejected', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ serve: { logger } });
    await exchange(api.server, 'nonsense\r\n\r\n');
    expect(lines).to.have.lengthOf(1);
    const expected = { level: 'info', message: 'rejected', status: 400, code: 'bad-request' };
    expect(lines[0]).to.include({ ...expected, address: '127.0.0.1' });
  });

  it('fails no request and no process if the logger throws or rejects', async () => {
    let count = 0;
    const fail = () => {
      count += 1;
      throw new Error('The disk is full.');
    };
    for (const log of [fail, async () => fail()]) {
      const logger = { debug: log, info: log, warn: log, error: log };
      const store = createMemoryStore();
      store.users.get = () => Promise.reject(new Error('broken'));
      await using api = await startApi({ store, app: { logger }, serve: { logger } });
      count = 0;
      expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201); // Two lines.
      expect((await api.get('/users/x')).status).to.equal(500); // Two more.
      expect((await exchange(api.server, 'nonsense\r\n\r\n'))?.status).to.equal(400);
      await until(() => count === 5, 'all is logged');
    }
  });

  it('throttles repeated warnings, except when the outcome of a change is unknown', async () => {
    const { logger, lines } = keepLog();
    const store = createMemoryStore();
    const { users } = store;
    users.get = () => Promise.reject(storeUnavailable('none'));
    users.update = () => Promise.reject(storeUnavailable('unknown'));
    await using api = await startApi({ store, app: { logger, accessLog: false } });
    for (let n = 0; n < 3; n += 1) {
      await api.get('/users/x');
      await api.send('PATCH', '/users/x', { 'X-Request-Id': 'r' }, { name: 'x' });
    }
    const told = lines.map(({ level, outcome, endpoint }) => [level, outcome, endpoint]);
    expect(lines[1]).to.include({
      code: 'store-unavailable',
      requestId: 'r',
      path: '/api/v1/users/x',
    });
    const unknown = ['warn', 'unknown', 'patchUser'];
    expect(told).to.deep.equal([['warn', 'none', 'getUser'], unknown, unknown, unknown]);
    const { now } = performance;
    performance.now = () => now.call(performance) + 10_001;
    try {
      await api.get('/users/x');
    } finally {
      performance.now = now;
    }
    expect(lines.at(-1)).to.include({ endpoint: 'getUser', omitted: 2 });
    expect(lines).to.have.lengthOf(5);
  });
});

function line(requestId: string, method: string, path: string) {
  const client = { address: '127.0.0.1', userAgent: 'node' };
  return { level: 'info', message: 'request', requestId, method, path, ...client };
}
