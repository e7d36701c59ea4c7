import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { rostrumMiddleware } from '../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { type Api, callsTo, startApi } from './support/api.ts';
import { exchange, RawConnection } from './support/raw.ts';

const kibi = 1024;

describe('the X-Request-Id of a response', () => {
  it('is the one of the request if it is well-formed, and else a new one', async () => {
    await using api = await startApi();
    const idFor = async (headers: Record<string, string>) =>
      (await api.get('/users', headers)).headers.get('x-request-id');
    for (const sent of ['a', 'A.b_c-1', 'x'.repeat(128)]) {
      expect(await idFor({ 'X-Request-Id': sent })).to.equal(sent);
    }
    const odd = ['', 'a b', 'a/b', 'x'.repeat(129)].map((sent) => ({ 'X-Request-Id': sent }));
    const made = await Promise.all([{}, ...odd].map(idFor));
    for (const id of made) expect(id).to.match(/^[\da-f-]{36}$/);
    expect(new Set(made).size).to.equal(made.length);
  });
});

describe('a response body', () => {
  it('ends with one line feed', async () => {
    await using api = await startApi();
    const { id } = await api.make('/users', { name: 'A' });
    for (const title of ['x'.repeat(5), 'y'.repeat(50)]) {
      await api.make('/posts', { title, body: '\u00fc'.repeat(40 * kibi) });
    }
    const asked = [
      ...[`/users/${id}`, '/users', '/posts', '/posts?limit=1', '/users?fields=name'],
      ...['/users/none', '/none', '/users?limit=x', '/%ff'],
      ...['/../../livez', '/../../readyz', '/../../openapi.json', '/../../', '/../../none'],
      ...['/../../problems/not-found', '/../../problems'],
    ];
    for (const path of asked) {
      const { text } = await api.send('GET', path);
      expect(text, path).to.match(/[^\n]\n$/);
    }
    for (const input of [{ name: 'B' }, { name: '' }, 'no JSON']) {
      expect((await api.send('POST', '/users', {}, input)).text).to.match(/\}\n$/);
    }
    expect((await api.send('DELETE', `/users/${id}`)).text).to.equal('{"deleted":true}\n');
    const connection = new RawConnection(api.server);
    connection.send('GET / HTTP/1.1\r\nno header\r\n\r\n');
    expect((await connection.next())?.text).to.match(/\}\n$/);
    connection.end();
  });
});

describe('a large page', () => {
  const titles = Array.from({ length: 60 }, (_, n) => `${n} é 😀`);
  const body = '\u00fcber 😀'.repeat(800);
  let api: Api;
  before(async () => {
    api = await startApi();
    await Promise.all(titles.map((title) => api.make('/posts', { title, body })));
  });
  after(() => api[Symbol.asyncDispose]());

  const numberOf = (title: string) => Number(title.split(' ')[0]);

  /** Expects complete posts, and returns their titles in numeric order. */
  function titlesOf(page: Record<string, unknown> | undefined): string[] {
    const posts = page?.posts as { title: string; body: string }[];
    for (const post of posts) expect(post.body).to.equal(body);
    return posts.map(({ title }) => title).sort((a, b) => numberOf(a) - numberOf(b));
  }

  it('is complete for each of several requests on one connection', async () => {
    const connection = new RawConnection(api.server);
    for (let n = 0; n < 3; n++) {
      connection.send('GET /api/v1/posts?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const page = await connection.next();
      expect(titlesOf(page?.body)).to.deep.equal(titles);
      expect(page?.headers.get('connection')).to.equal('keep-alive');
    }
    connection.end();
  });

  it('has the same Content-Length for HEAD', async () => {
    const page = await api.get('/posts?limit=1000');
    const head = await api.send('HEAD', '/posts?limit=1000');
    expect(head.headers.get('content-length')).to.equal(page.headers.get('content-length'));
  });

  it('is sent without waiting for the request body', async () => {
    const headers = 'Host: localhost\r\nContent-Length: 5\r\n\r\n';
    const page = await exchange(api.server, `GET /api/v1/posts?limit=1000 HTTP/1.1\r\n${headers}`);
    expect(titlesOf(page?.body)).to.deep.equal(titles);
  });

  it('can be changed by middleware of a Koa app', async () => {
    const rostrum = createRostrum(createMemoryStore());
    for (const title of titles) await rostrum.posts.create({ title, body });
    const app = new Koa();
    app.use(async (ctx, next) => {
      await next();
      ctx.body = String(ctx.body).replace('59 é', '59 è');
    });
    app.use(rostrumMiddleware(rostrum, { prefix: '' }));
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const page = await callsTo(`http://127.0.0.1:${port}`).get('/posts?limit=1000');
      expect(titlesOf(page.body)).to.deep.equal([...titles.slice(0, 59), '59 è 😀']);
      expect(page.headers.get('content-type')).to.equal('application/json');
    } finally {
      server.close();
    }
  });
});
