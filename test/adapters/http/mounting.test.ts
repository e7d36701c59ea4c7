import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import {
  createApp,
  problemResponses,
  rostrumListener,
  rostrumMiddleware,
} from '../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum, type Rostrum } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import { type Calls, callsTo, expectProblem } from './support/api.ts';
import { keepLog } from './support/log.ts';
import { expectAt } from './support/mounted.ts';

/** Works like koa-mount: removes the prefix from the path, and restores it for later middleware. */
function mount(front: string, inner: Koa.Middleware): Koa.Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(`${front}/`) && ctx.path !== front) return next();
    const whole = ctx.path;
    ctx.path = whole.slice(front.length) || '/';
    await inner(ctx, async () => {
      ctx.path = whole;
      await next();
      ctx.path = whole.slice(front.length) || '/';
    });
    ctx.path = whole;
  };
}

describe('Rostrum in another app', () => {
  let rostrum: Rostrum;
  const servers: Server[] = [];
  beforeEach(() => {
    rostrum = createRostrum(createMemoryStore());
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function listen(listener: RequestListener): Promise<Calls & { url: string }> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { ...callsTo(url), url };
  }

  for (const prefix of ['/api/v1', '/a', '/deep/ly/nested', '/caf%C3%A9', '/a(b)!']) {
    it(`serves ${prefix} and leaves other paths to the app`, async () => {
      const app = new Koa();
      app.use(rostrumMiddleware(rostrum, { prefix }));
      app.use((ctx) => {
        ctx.body = 'the rest';
      });
      const calls = await listen(app.callback());
      await expectAt(prefix, calls);
      for (const path of ['/', `${prefix}x`, '/livez', '/problems/internal', '/%ZZ']) {
        expect((await calls.get(path)).text, path).to.equal('the rest');
      }
    });
  }

  it('works below a mount path', async () => {
    const app = new Koa();
    app.use(mount('/blog', rostrumMiddleware(rostrum)));
    app.use(mount('/all', rostrumMiddleware(rostrum, { prefix: '' })));
    app.use((ctx) => {
      ctx.body = 'the rest';
    });
    const calls = await listen(app.callback());
    await expectAt('/blog/api/v1', calls);
    await expectAt('/all', calls);
    expect((await calls.get('/blog/else')).text).to.equal('the rest');
  });

  it('returns 404 below a router of the app for a path that nobody serves', async () => {
    const router = new Router();
    router.all('/api/v1{/*rest}', rostrumMiddleware(rostrum));
    const calls = await listen(new Koa().use(router.routes()).callback());
    expect((await calls.get('/api/v1/users')).status).to.equal(200);
    expectProblem(await calls.get('/api/v1/nothing'), 404, 'path-not-found', '/api/v1');
    expectProblem(await calls.send('PUT', '/api/v1/users'), 405, 'method-not-allowed', '/api/v1');
  });

  it('turns errors of the routes of the app into problems', async () => {
    const log = keepLog();
    const router = new Router();
    router.use(problemResponses({ logger: log.logger }));
    router.get('/core/:id', async (ctx) => {
      ctx.body = (await rostrum.posts.get(ctx.params.id ?? '')).record;
    });
    router.get('/thrown', (ctx) => ctx.throw(403, 'Not today.', { headers: { Via: 'x' } }));
    router.get('/failed', () => {
      throw new Error('secret');
    });
    const app = new Koa().use(router.routes());
    const calls = await listen(app.use(rostrumMiddleware(rostrum)).callback());
    expectProblem(await calls.get('/core/x'), 404, 'post-not-found', '/api/v1');
    const thrown = await calls.get('/thrown', { 'X-Request-Id': 'r1' });
    expect(thrown.body).to.deep.equal({
      ...{ type: 'about:blank', title: 'Forbidden', status: 403, requestId: 'r1' },
      ...{ error: 'Not today.', detail: 'Not today.' },
    });
    expect(thrown.headers.get('content-type')).to.equal('application/problem+json');
    expect([thrown.status, thrown.headers.get('via')]).to.deep.equal([403, 'x']);
    const failed = await calls.get('/failed');
    expectProblem(failed, 500, 'internal', '/api/v1');
    expect(failed.text).not.to.contain('secret');
    expect(String(log.lines.at(-1)?.err)).to.contain('secret');
    expect((await calls.get('/api/v1/posts')).status).to.equal(200);
  });

  it('drops the headers of the response that failed, and keeps those of the problem', async () => {
    const stale = {
      ETag: '"1"',
      'Content-Encoding': 'gzip',
      Location: '/x',
      Link: '</>; rel=next',
    };
    const app = new Koa();
    app.use(problemResponses());
    app.use((ctx) => {
      ctx.set({ ...stale, 'Last-Modified': new Date(0).toUTCString(), Vary: 'Origin' });
      ctx.attachment('posts.csv');
      const headers = ctx.path === '/changed' ? { ETag: '"2"' } : undefined;
      ctx.throw(headers ? 412 : 404, 'Not here.', { headers });
    });
    const calls = await listen(app.callback());
    const missing = await calls.get('/');
    expect([missing.status, missing.body.error]).to.deep.equal([404, 'Not here.']);
    expect(missing.headers.get('vary')).to.equal('Origin');
    for (const name of [...Object.keys(stale), 'Last-Modified', 'Content-Disposition']) {
      expect(missing.headers.has(name), name).to.equal(false);
    }
    const changed = await calls.get('/changed');
    expect([changed.status, changed.headers.get('etag')]).to.deep.equal([412, '"2"']);
  });

  it('keeps the status and headers of a failure thrown with a status, and logs its message', async () => {
    const log = keepLog();
    const app = new Koa();
    app.use(problemResponses({ logger: log.logger }));
    app.use((ctx) => ctx.throw(503, 'secret', { headers: { 'Retry-After': '7' } }));
    const calls = await listen(app.callback());
    const { status, headers, body } = await calls.get('/');
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '7']);
    expect(body).to.include({ type: 'about:blank', error: 'Service Unavailable', status });
    expect(log.lines).to.have.lengthOf(1);
    const [line] = log.lines;
    expect(line).to.include({ level: 'error', status: 503 }).and.not.have.property('code');
    expect(String(line?.err)).to.equal('ServiceUnavailableError: secret');
  });

  it('keeps the status of an error that is not for the client, and logs it, as Koa does', async () => {
    const log = keepLog();
    const app = new Koa();
    app.use(problemResponses({ logger: log.logger }));
    app.use((ctx) => {
      if (ctx.path === '/thrown') ctx.throw(400, 'secret', { expose: false });
      // As the parser of koa-bodyparser does.
      throw Object.assign(new SyntaxError('secret'), { status: 400 });
    });
    const calls = await listen(app.callback());
    for (const path of ['/thrown', '/parsed']) {
      const { status, body } = await calls.get(path);
      expect([status, body.error]).to.deep.equal([400, 'Bad Request']);
    }
    // It can be the failure of a library, which nobody else would report.
    expect(log.lines.map(({ level, err }) => [level, (err as Error).message])).to.deep.equal([
      ['error', 'secret'],
      ['error', 'secret'],
    ]);
  });

  it('is a 500 for an error whose status is not a number', async () => {
    const app = new Koa();
    app.use(problemResponses({ logger: keepLog().logger }));
    app.use(() => {
      throw Object.assign(new Error('secret'), { status: '404' });
    });
    const { status, body } = await (await listen(app.callback())).get('/');
    expect([status, body.code]).to.deep.equal([500, 'internal']);
  });

  it('can be used twice in one app, under different prefixes', async () => {
    const app = new Koa();
    app.use(rostrumMiddleware(rostrum, { prefix: '/one' }));
    app.use(rostrumMiddleware(createRostrum(createMemoryStore()), { prefix: '/two' }));
    const calls = await listen(app.callback());
    const { id } = await calls.make('/one/users', { name: 'Ann' });
    expect((await calls.get(`/one/users/${id}`)).status).to.equal(200);
    expect((await calls.get(`/two/users/${id}`)).status).to.equal(404);
  });

  it('works as the listener of a node:http server, and returns 404 outside its prefix', async () => {
    const calls = await listen(rostrumListener(rostrum, { prefix: '/data' }));
    await expectAt('/data', calls);
    expectProblem(await calls.get('/else'), 404, 'path-not-found', '/data');
    const whole = await listen(rostrumListener(rostrum, { prefix: '/' }));
    await expectAt('', whole);
  });

  it('works below a mount path of Connect or Express, and leaves other paths to it', async () => {
    const rostrumAt = rostrumListener(rostrum);
    // Like `app.use('/forum', …)`, which removes the prefix from `url` and keeps it in `originalUrl`.
    const calls = await listen((request, response) => {
      const url = request.url ?? '';
      const inner = url.replace(/^\/forum/, '') || '/';
      Object.assign(request, { originalUrl: url, url: inner });
      rostrumAt(request, response, () => response.end(`${response.statusCode} the rest`));
    });
    await expectAt('/forum/api/v1', calls);
    for (const path of ['/forum', '/forum/', '/forum/else', '/forum/api/v1x']) {
      expect((await calls.get(path)).text, path).to.equal('200 the rest');
    }
  });

  it('returns 500 and logs why if the app or server has already read the body', async () => {
    const { logger, lines } = keepLog();
    const app = new Koa();
    app.use(bodyParser());
    app.use(rostrumMiddleware(rostrum, { logger }));
    const rostrumAt = rostrumListener(rostrum, { logger });
    const plain: RequestListener = async (request, response) => {
      for await (const _ of request);
      rostrumAt(request, response);
    };
    for (const listener of [app.callback(), plain]) {
      lines.length = 0;
      const calls = await listen(listener);
      const answer = await calls.post('/api/v1/users', { name: 'Ann' });
      expectProblem(answer, 500, 'internal', '/api/v1');
      const [line] = lines.filter(({ level }) => level === 'error');
      expect(String(line?.err)).to.match(/body .* was read before Rostrum/);
      expect((await calls.get('/api/v1/users')).status).to.equal(200);
    }
  });

  it('reads bodies even if the app has disabled its own parser for them', async () => {
    const app = new Koa();
    app.use((ctx, next) => {
      ctx.disableBodyParser = true;
      return next();
    });
    app.use(bodyParser());
    app.use(rostrumMiddleware(rostrum));
    const calls = await listen(app.callback());
    expect(await calls.make('/api/v1/users', { name: 'Ann' })).to.include({ name: 'Ann' });
  });

  it('logs no error if the client disconnects before its body is read', async () => {
    const { logger, lines } = keepLog();
    const app = new Koa();
    const arrived = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    app.on('error', () => {}); // Koa reports the closed connection.
    app.use(async (ctx, next) => {
      ctx.req.on('close', () => gone.resolve());
      arrived.resolve();
      await gone.promise;
      await next();
    });
    app.use(rostrumMiddleware(rostrum, { logger }));
    const { url } = await listen(app.callback());
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
    socket.write('Content-Length: 100\r\n\r\n{');
    await arrived.promise;
    socket.resetAndDestroy();
    await gone.promise;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('logs no error if the client of a node:http server leaves in mid-body', async () => {
    const { logger, lines } = keepLog();
    const { url } = await listen(rostrumListener(rostrum, { logger }));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
    socket.end('Content-Length: 100\r\n\r\n{');
    await until(() => lines.some(({ message }) => message === 'request'), 'it is logged');
    expect(lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('emits failures as "error" events of the app if it has no logger, but not errors for the client', async () => {
    const app = new Koa();
    const errors: unknown[] = [];
    app.on('error', (error) => errors.push(error));
    app.use(bodyParser());
    const reset = Object.assign(new Error('no identity provider'), { code: 'ECONNRESET' });
    const authenticate = (ctx: Koa.Context) => {
      if (ctx.get('Authorization') !== '') throw reset;
      return ctx.throw(401, 'not known');
    };
    app.use(mount('/closed', rostrumMiddleware(rostrum, { authenticate })));
    app.use(rostrumMiddleware(rostrum));
    const calls = await listen(app.callback());
    expect((await calls.post('/api/v1/users', { name: 'Ann' })).status).to.equal(500);
    const failed = await calls.get('/closed/api/v1/users', { Authorization: 'Bearer x' });
    expect(failed.status).to.equal(500);
    const thrown = await calls.get('/closed/api/v1/users');
    expect([thrown.status, thrown.body.error]).to.deep.equal([401, 'not known']);
    const causes = errors.map((error) => String((error as Error).cause));
    expect(causes).to.have.lengthOf(2);
    expect(causes[0]).to.match(/was read before Rostrum/);
    expect(causes[1]).to.equal(String(reset));
  });

  it('sends no body for Prefer: return=minimal if the app has set a type', async () => {
    const app = new Koa();
    app.use((ctx, next) => {
      ctx.type = 'json';
      return next();
    });
    app.use(rostrumMiddleware(rostrum));
    const { url } = await listen(app.callback());
    const response = await fetch(`${url}/api/v1/users`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'return=minimal' },
      body: '{"name":"Ann"}',
    });
    expect([response.status, await response.text()]).to.deep.equal([201, '']);
  });

  it('prints failures only if nothing listens to the "error" events of the app', async () => {
    const printed: unknown[] = [];
    const { error: print } = console;
    console.error = (text) => printed.push(text);
    try {
      for (const listens of [false, true]) {
        const app = createApp(rostrum, {
          authenticate: () => Promise.reject(new Error('no identity provider')),
          ready: async () => {},
        });
        if (listens) app.on('error', () => {});
        const calls = await listen(app.callback());
        expect((await calls.get('/api/v1/users')).status).to.equal(500);
        expect(printed.length > 0).to.equal(!listens);
        printed.length = 0;
      }
    } finally {
      console.error = print;
    }
  });

  it('throws a TypeError for an invalid prefix', () => {
    for (const prefix of ['api', '/api/', '//', '/a//b', '/%ZZ', '/a b', '/a?b', '/a#b']) {
      expect(() => rostrumMiddleware(rostrum, { prefix }), prefix).to.throw(TypeError, /prefix/);
    }
  });
});
