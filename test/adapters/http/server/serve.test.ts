import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { serve } from '../../../../src/adapters/http/index.ts';
import { until } from '../../../support/until.ts';
import type { RawResponse } from '../support/answer.ts';
import { type Api, startApi } from '../support/api.ts';
import { keepLog } from '../support/log.ts';
import { exchange, RawConnection } from '../support/raw.ts';
import { slowStore } from '../support/slow-store.ts';

const host = 'Host: x\r\n';
const get = (path: string, more = host) => `GET ${path} HTTP/1.1\r\n${more}\r\n`;
const post = (headers: string, body: string) =>
  `POST /api/v1/users HTTP/1.1\r\n${host}Content-Type: application/json\r\n${headers}\r\n\r\n${body}`;
const chunked = 'Transfer-Encoding: chunked';

describe('the server', () => {
  let api: Api;
  const { logger, lines } = keepLog();
  before(async () => {
    const limits = {
      headersTimeoutMs: 400,
      requestTimeoutMs: 2000,
      checkIntervalMs: 50,
      keepAliveTimeoutMs: 5000,
    };
    api = await startApi({ serve: { limits, logger } });
  });
  after(() => api[Symbol.asyncDispose]());

  /** Expects an error from the HTTP server itself: a problem, after which the connection closes. */
  function expectRefusal(answer: RawResponse | undefined, status: number, code: string): void {
    expect([answer?.status, answer?.body.code]).to.deep.equal([status, code]);
    const { headers, body } = answer as RawResponse;
    expect(headers.get('content-type')).to.match(/^application\/problem\+json(;|$)/);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('connection')).to.equal('close');
    expect(headers.get('date')).to.be.a('string');
    expect(headers.get('x-request-id'))
      .to.equal(body.requestId)
      .and.match(/^[\w.-]{1,128}$/);
    expect(body).to.include({ type: `/problems/${code}`, status });
    expect(body.error).to.equal(body.detail).and.match(/\.$/);
  }

  async function expectRefused(
    request: string,
    status: number,
    code: string,
  ): Promise<RawResponse> {
    const connection = new RawConnection(api.server);
    const answer = await connection.send(request).next();
    expectRefusal(answer, status, code);
    connection.end();
    await connection.closed();
    return answer as RawResponse;
  }

  for (const [what, request] of [
    ['a malformed request line', 'hello\r\n\r\n'],
    ['an unknown method', get('/api/v1/users').replace('GET', 'FETCH')],
    ['another protocol', get('/api/v1/users').replace('HTTP', 'FTP')],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a space in the path', get('/api/v1/users/a b')],
    ['a header without a colon', get('/livez', `${host}nonsense\r\n`)],
    ['a space before the colon', get('/livez', `${host}A : b\r\n`)],
    ['NUL in a header', get('/livez', `${host}A: \0\r\n`)],
    ['two Content-Lengths', post('Content-Length: 2\r\nContent-Length: 3', '{}x')],
    ['an invalid Content-Length', post('Content-Length: x', '{}')],
    ['a negative Content-Length', post('Content-Length: -2', '{}')],
    ['both Content-Length and chunks', post(`Content-Length: 2\r\n${chunked}`, '0\r\n\r\n')],
    ['chunked as the first transfer coding', post('Transfer-Encoding: chunked, gzip', '0\r\n\r\n')],
    ['a chunk without a size', post(chunked, 'x\r\n\r\n')],
  ] as const) {
    it(`returns 400 for ${what}`, async () => {
      await expectRefused(request, 400, 'bad-request');
    });
  }

  it('returns problems for requests that the HTTP parser rejects', async () => {
    const many = Array.from({ length: 9000 }, (_, i) => `a${i}:b\r\n`).join('');
    for (const [request, status, code] of [
      [get('/livez', `${host}X-Large: ${'x'.repeat(40_000)}\r\n`), 431, 'headers-too-large'],
      [get('/livez', host + many), 431, 'headers-too-large'],
      [get(`/api/v1/users?name=${'x'.repeat(50_000)}`), 431, 'headers-too-large'],
      [post(chunked, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`), 400, 'bad-request'],
    ] as const) {
      await expectRefused(request, status, code);
    }
  });

  it('returns 400 for an invalid Host', async () => {
    for (const name of ['a b', 'x/y', ':80', '[::1']) {
      const answer = await exchange(api.server, get('/livez', `Host: ${name}\r\n`));
      expect([answer?.status, answer?.body.code], name).to.deep.equal([400, 'bad-request']);
    }
  });

  it('returns 400 without a Host, or with two of them, except for HTTP/1.0', async () => {
    for (const headers of ['', `${host}${host}`, `${host}hOST: x\r\n`]) {
      const answer = await exchange(api.server, get('/livez', headers));
      expect([answer?.status, answer?.body.code], headers).to.deep.equal([400, 'bad-request']);
    }
  });

  it('ignores an expectation that it does not know', async () => {
    const answer = await exchange(api.server, get('/livez', `${host}Expect: something\r\n`));
    expect(answer?.status).to.equal(200);
  });

  it('returns 408 if headers or a body do not arrive in time', async () => {
    const partial = [post('Content-Length: 10', '{'), post(chunked, '1\r\n{')];
    await Promise.all(
      [`GET /livez HTTP/1.1\r\n${host}`, 'GE', ...partial].map((request) =>
        expectRefused(request, 408, 'request-timeout'),
      ),
    );
  });

  it('serves nothing after a 408: the client was told to send the request again', async () => {
    const connection = new RawConnection(api.server);
    connection.send(post('Content-Length: 15', '{"name":"Lat'));
    expect((await connection.next())?.status).to.equal(408);
    connection.send('e"}').send(get('/livez'));
    expect(await connection.next()).to.equal(undefined);
    expect((await api.get('/users?name=Late')).body.users).to.deep.equal([]);
  });

  it('accepts HTTP/1.0 without a Host, and every usual form of Host', async () => {
    const old = await exchange(api.server, 'GET /livez HTTP/1.0\r\n\r\n');
    expect(old?.status).to.equal(200);
    const names = ['', 'x', 'x:80', 'x:', 'x:65535', '127.0.0.1:1', '[::1]', '[::1]:80', 'a_b.c'];
    for (const name of names) {
      const answer = await exchange(api.server, get('/livez', `Host: ${name}\r\n`));
      expect(answer?.status, name).to.equal(200);
    }
  });

  it('reads thousands of headers', async () => {
    const many = Array.from({ length: 2500 }, () => 'a:b\r\n').join('');
    const request = get('/livez', `${host}${many}X-Request-Id: last\r\n`);
    const answer = await exchange(api.server, request);
    expect(answer?.headers.get('x-request-id')).to.equal('last');
  });

  it('sends 100 Continue if the request expects it', async () => {
    const connection = new RawConnection(api.server);
    const body = '{"name":"Ann"}';
    connection.send(post(`Expect: 100-continue\r\nContent-Length: ${body.length}`, ''));
    expect((await connection.next())?.status).to.equal(100);
    connection.send(body);
    expect((await connection.next())?.status).to.equal(201);
    connection.send(get('/livez'));
    expect((await connection.next())?.status).to.equal(200);
    connection.socket.destroy();
  });

  it('sends no 100 Continue if the headers determine the response', async () => {
    const connection = new RawConnection(api.server);
    connection.send(post('Expect: 100-continue\r\nContent-Length: 2000000', ''));
    expect((await connection.next())?.status).to.equal(413);
    expect(await connection.closed()).to.equal('');
  });

  it('ignores Upgrade and serves the request', async () => {
    for (const protocol of ['websocket', 'h2c']) {
      const connection = new RawConnection(api.server);
      const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
      connection.send(get('/livez', host + upgrade));
      expect((await connection.next())?.status).to.equal(200);
      const body = '{"name":"Ann"}';
      connection.send(post(`${upgrade}Content-Length: ${body.length}`, body));
      expect((await connection.next())?.status).to.equal(201);
      connection.socket.destroy();
    }
  });

  it('returns 400 for a truncated body, and stores nothing', async () => {
    for (const request of [
      post('Content-Length: 100', '{"name":"Torn"}'),
      post(chunked, 'f\r\n{"name":"Torn"}\r\n'),
    ]) {
      const connection = new RawConnection(api.server).send(request).end();
      expectRefusal(await connection.next(), 400, 'bad-request');
      await connection.closed();
      const gone = new RawConnection(api.server).send(request);
      await once(gone.socket, 'connect');
      gone.socket.resetAndDestroy();
    }
    const { body } = await api.get('/users?name=Torn');
    expect(body.users).to.deep.equal([]);
    expect(lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('responds to pipelined requests in order, and then to a malformed one', async () => {
    const { store, begun, release } = slowStore();
    await using slow = await startApi({ store });
    const connection = new RawConnection(slow.server);
    connection.send(get('/api/v1/users/x')).send(get('/livez')).send('nonsense\r\n\r\n');
    await begun();
    setTimeout(release, 50);
    expect((await connection.next())?.status).to.equal(404);
    expect((await connection.next())?.status).to.equal(200);
    expectRefusal(await connection.next(), 400, 'bad-request');
    connection.end();
    expect(await connection.closed()).to.equal('');
  });

  it('responds to a client that half-closed its connection', async () => {
    const { store, begun, release } = slowStore();
    await using slow = await startApi({ store });
    const connection = new RawConnection(slow.server).send(get('/api/v1/users/x')).end();
    await begun();
    setTimeout(release, 50);
    expect((await connection.next())?.status).to.equal(404);
    expect(await connection.closed()).to.equal('');
  });

  const size = 32 * 1024 * 1024;
  for (const [what, begin] of [
    ['a body with its length', post(`Content-Length: ${size}`, '')],
    ['a chunked body', post(chunked, `${size.toString(16)}\r\n`)],
  ]) {
    it(`delivers an early response to a client that reads only after sending ${what}`, async () => {
      // With the default limits: writing the body can block a busy machine for longer than the short ones.
      await using own = await startApi();
      const { address } = own.server;
      const socket = connect({ port: address.port, host: address.address, allowHalfOpen: true });
      socket.pause();
      socket.on('error', () => {});
      socket.write(begin ?? '');
      for (let sent = 0; sent < size; sent += 0x10000) socket.write('x'.repeat(0x10000));
      await once(socket, 'drain');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.resume();
      await until(() => text.endsWith('}\n') || socket.destroyed, 'the response has arrived');
      socket.destroy();
      expect(text)
        .to.match(/^HTTP\/1\.1 413 /)
        .and.include('"code":"body-too-large"');
    });
  }

  it('ignores requests after a response that closes the connection', async () => {
    const connection = new RawConnection(api.server);
    connection.send(post(`Connection: close\r\nContent-Length: ${2 * 1024 * 1024}`, ''));
    expect((await connection.next())?.status).to.equal(413);
    connection
      .send('x'.repeat(2 * 1024 * 1024))
      .send(post('Content-Length: 17', '{"name":"Behind"}'))
      .end();
    expect(await connection.closed()).to.equal('');
    expect((await api.get('/users?name=Behind')).body.users).to.deep.equal([]);
  });

  it('keeps a valid X-Request-Id of the client, and otherwise creates one', async () => {
    for (const id of ['a', 'A-b_c.9', 'x'.repeat(128)]) {
      const { headers } = await api.get('/users', { 'X-Request-Id': id });
      expect(headers.get('x-request-id')).to.equal(id);
    }
    for (const id of ['', 'a b', 'é', 'x'.repeat(129), '"a"', 'a,b']) {
      const { headers } = await api.get('/users', { 'X-Request-Id': id });
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('can serve another Koa app that waits for the end of an empty body', async () => {
    const app = new Koa();
    app.use(async (ctx) => {
      ctx.req.resume();
      await once(ctx.req, 'end');
      ctx.body = 'at its end';
    });
    const server = await serve(app, { port: 0 });
    try {
      const response = await fetch(server.url);
      expect(await response.text()).to.equal('at its end');
    } finally {
      await server.close();
    }
  });

  it('exposes its address, and rejects with the system error if it cannot listen', async () => {
    const { address, url } = api.server;
    expect(url).to.equal(`http://127.0.0.1:${address.port}`);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = (other.address() as { port: number }).port;
    const error: unknown = await startApi({ serve: { port: taken } }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.include({ code: 'EADDRINUSE', port: taken });
    other.close();
  });
});
