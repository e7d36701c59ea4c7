import { expect } from 'chai';
import type Koa from 'koa';
import {
  createApp,
  createWaitingApp,
  rostrumMiddleware,
  serve,
} from '../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import { keepLog } from './support/log.ts';

describe('createApp', () => {
  const { logger, lines } = keepLog();
  const create = () =>
    createApp(createRostrum(createMemoryStore()), { ready: async () => {}, logger });

  async function open(app: Koa) {
    const server = await serve(app, { port: 0 });
    const get = (path: string, init?: RequestInit) => fetch(server.url + path, init);
    return { get, [Symbol.asyncDispose]: () => server.close() };
  }

  it('runs middleware that is added in front of its own', async () => {
    const app = create();
    const seen: number[] = [];
    app.middleware.unshift(async (ctx, next) => {
      if (ctx.path === '/mine') ctx.body = 'mine';
      else await next();
      seen.push(ctx.status);
    });
    await using api = await open(app);
    expect(await (await api.get('/mine')).text()).to.equal('mine');
    expect((await api.get('/livez')).status).to.equal(200);
    expect((await api.get('/api/v1/users?limit=x')).status).to.equal(400);
    expect(seen).to.deep.equal([200, 200, 400]);
  });

  it('passes unknown paths to middleware that is added after its own', async () => {
    const app = create();
    app.use(async (ctx, next) => {
      if (ctx.path === '/mine') ctx.body = 'mine';
      else if (ctx.path === '/nothing') ctx.status = 204;
      else if (ctx.path === '/lost') Object.assign(ctx, { status: 404, body: 'my page' });
      else if (ctx.path === '/raw') ctx.res.writeHead(404).end('raw');
      else await next();
    });
    await using api = await open(app);
    for (const [path, status, text] of [
      ['/mine', 200, 'mine'],
      ['/nothing', 204, ''],
      ['/lost', 404, 'my page'],
      ['/raw', 404, 'raw'],
    ] as const) {
      const response = await api.get(path);
      expect([response.status, await response.text()]).to.deep.equal([status, text]);
    }
    expect((await api.get('/api/v1/users')).status).to.equal(200);
    const other = await api.get('/other');
    expect(other.headers.get('content-type')).to.equal('application/problem+json');
  });

  it('sends HTTP errors thrown by added middleware, and hides and logs other errors', async () => {
    const app = create();
    const secret = new Error('secret');
    app.use((ctx) => {
      if (ctx.path === '/refused') ctx.throw(403, 'not yours', { headers: { 'X-Why': 'mine' } });
      throw secret;
    });
    await using api = await open(app);
    const refused = await api.get('/refused');
    expect([refused.status, refused.headers.get('x-why')]).to.deep.equal([403, 'mine']);
    expect(await refused.json()).to.include({ status: 403, error: 'not yours' });
    for (const name of ['x-request-id', 'x-content-type-options']) {
      expect(refused.headers.get(name), name).to.be.a('string');
    }
    const failed = await api.get('/failed');
    expect(failed.status).to.equal(500);
    expect(await failed.text()).not.to.contain('secret');
    const errors = lines.filter(({ level }) => level === 'error').map(({ err }) => err);
    expect(errors).to.deep.equal([secret]);
  });

  it('can serve a second Rostrum under a mount path', async () => {
    const app = create();
    const other = rostrumMiddleware(createRostrum(createMemoryStore()));
    app.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/forum/')) return next();
      ctx.path = ctx.path.slice('/forum'.length);
      return other(ctx, next);
    });
    await using api = await open(app);
    const headers = { 'Content-Type': 'application/json' };
    const creation = { method: 'POST', headers, body: '{"name":"Ann"}' };
    const made = await api.get('/forum/api/v1/users', creation);
    expect(made.status).to.equal(201);
    const location = made.headers.get('location') ?? '';
    expect(location).to.match(/^\/forum\/api\/v1\/users\//);
    expect((await api.get(location)).status).to.equal(200);
  });

  it('is preceded by an app whose problems have the same URL, origins and metrics', async () => {
    const problems: string[] = [];
    const problem = (code: string) => problems.push(code);
    const metrics = { requestBegan() {}, requestEnded() {}, problem };
    const options = { publicUrl: 'https://x.org/', cors: ['https://*.y.org'], metrics };
    await using api = await open(createWaitingApp(options));
    const { status, headers, body } = await api.get('/a', {
      headers: { Origin: 'https://a.y.org' },
    });
    expect(status).to.equal(503);
    expect(headers.get('access-control-allow-origin')).to.equal('https://a.y.org');
    expect(await new Response(body).json())
      .to.have.property('type')
      .equal('https://x.org/problems/store-unavailable');
    await until(() => problems.length > 0, 'it is counted');
    expect(problems).to.deep.equal(['store-unavailable']);
  });

  it('emits "error" if a request fails outside of all handlers', async () => {
    const app = create();
    const reported: unknown[] = [];
    app.removeAllListeners('error').on('error', (error) => reported.push(error));
    const failure = new Error('no url');
    Object.defineProperty(app.request, 'url', {
      get() {
        throw failure;
      },
    });
    await using api = await open(app);
    expect((await api.get('/livez')).status).to.equal(500);
    expect(reported).to.deep.equal([failure]);
  });
});
