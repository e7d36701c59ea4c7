import { expect } from 'chai';
import { createApp, rostrumMiddleware, serve } from '../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import type { LogFields } from '../../../src/ports/logger.ts';

describe('the program’s app', () => {
  const create = () => createApp(createRostrum(createMemoryStore()), { ready: async () => {} });

  it('is served by Koa when somebody puts middleware around it', async () => {
    const app = create();
    const seen: number[] = [];
    app.middleware.unshift(async (ctx, next) => {
      if (ctx.path === '/mine') ctx.body = 'mine';
      else await next();
      seen.push(ctx.status);
    });
    const server = await serve(app, { port: 0 });
    try {
      expect(await (await fetch(`${server.url}/mine`)).text()).to.equal('mine');
      expect((await fetch(`${server.url}/livez`)).status).to.equal(200);
      expect((await fetch(`${server.url}/api/v1/users?limit=x`)).status).to.equal(400);
      expect(seen).to.deep.equal([200, 200, 400]);
    } finally {
      await server.close();
    }
  });

  it('leaves what it does not serve to middleware that is added', async () => {
    const app = create();
    app.use(async (ctx, next) => {
      if (ctx.path === '/mine') ctx.body = 'mine';
      else if (ctx.path === '/nothing') ctx.status = 204;
      else if (ctx.path === '/lost') Object.assign(ctx, { status: 404, body: 'my page' });
      else if (ctx.path === '/raw') ctx.res.writeHead(404).end('raw');
      else await next();
    });
    const server = await serve(app, { port: 0 });
    try {
      expect(await (await fetch(`${server.url}/mine`)).text()).to.equal('mine');
      expect((await fetch(`${server.url}/nothing`)).status).to.equal(204);
      for (const [path, text] of [
        ['/lost', 'my page'],
        ['/raw', 'raw'],
      ] as const) {
        const response = await fetch(server.url + path);
        expect(response.status).to.equal(404);
        expect(await response.text()).to.equal(text);
      }
      expect((await fetch(`${server.url}/api/v1/users`)).status).to.equal(200);
      const other = await fetch(`${server.url}/other`);
      expect(other.headers.get('content-type')).to.equal('application/problem+json');
    } finally {
      await server.close();
    }
  });

  it('sends what middleware that is added throws for the client', async () => {
    const errors: unknown[] = [];
    const logger = { info() {}, warn() {}, error: ({ err }: LogFields) => void errors.push(err) };
    const rostrum = createRostrum(createMemoryStore());
    const app = createApp(rostrum, { ready: async () => {}, logger });
    const secret = new Error('secret');
    app.use((ctx) => {
      if (ctx.path === '/refused') ctx.throw(403, 'not yours', { headers: { 'X-Why': 'mine' } });
      throw secret;
    });
    const server = await serve(app, { port: 0 });
    try {
      const refused = await fetch(`${server.url}/refused`);
      expect(refused.status).to.equal(403);
      expect(refused.headers.get('x-why')).to.equal('mine');
      expect(await refused.text()).to.equal('not yours');
      const failed = await fetch(`${server.url}/failed`);
      expect(failed.status).to.equal(500);
      expect(await failed.text()).not.to.contain('secret');
      expect(errors).to.deep.equal([secret]);
    } finally {
      await server.close();
    }
  });

  it('serves another Rostrum that is mounted in it', async () => {
    const app = create();
    const other = rostrumMiddleware(createRostrum(createMemoryStore()));
    app.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/forum/')) return next();
      ctx.path = ctx.path.slice('/forum'.length);
      return other(ctx, next);
    });
    const server = await serve(app, { port: 0 });
    try {
      const made = await fetch(`${server.url}/forum/api/v1/users`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"name":"Ann"}',
      });
      expect(made.status).to.equal(201);
      expect(made.headers.get('location')).to.match(/^\/forum\/api\/v1\/users\//);
      const found = await fetch(server.url + made.headers.get('location'));
      expect(found.status).to.equal(200);
    } finally {
      await server.close();
    }
  });

  it('reports what fails outside of every handler', async () => {
    const app = create();
    const reported: unknown[] = [];
    app.removeAllListeners('error').on('error', (error) => reported.push(error));
    const failure = new Error('no url');
    Object.defineProperty(app.request, 'url', {
      get() {
        throw failure;
      },
    });
    const server = await serve(app, { port: 0 });
    try {
      expect((await fetch(`${server.url}/livez`)).status).to.equal(500);
      expect(reported).to.deep.equal([failure]);
    } finally {
      await server.close();
    }
  });
});
