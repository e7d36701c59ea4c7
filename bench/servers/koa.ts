import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { destination, pino } from 'pino';
import type { BareStore } from './bare-store.ts';
import { newPost, pageOf } from './store.ts';

/**
 * Serves with only Koa, its router, its body parser and an access log, to measure the cost of the packages that
 * Rostrum uses. Returns the port.
 */
export async function koa(store: BareStore): Promise<number> {
  const log = pino({ base: null }, destination({ fd: 2, sync: false, minLength: 4096 }));
  const app = new Koa();
  app.use((ctx, next) => {
    const start = performance.now();
    ctx.res.once('close', () => {
      const ms = Math.round((performance.now() - start) * 10) / 10;
      log.info({ method: ctx.method, path: ctx.path, status: ctx.status, ms }, 'request');
    });
    return next();
  });

  const router = new Router({ prefix: '/api/v1/posts' });
  router.get('/:id', async (ctx) => {
    const json = await store.get(ctx.params.id ?? '');
    respond(ctx, json === undefined ? 404 : 200, json ?? '{}');
  });
  router.get('/', async (ctx) => {
    respond(ctx, 200, await pageOf(store, Number(ctx.query.limit)));
  });
  router.post('/', bodyParser(), async (ctx) => {
    respond(ctx, 201, await store.add(newPost(ctx.request.body as { readonly title: string })));
  });
  app.use(router.routes());
  const server: Server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function respond(ctx: Context, status: number, json: string): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = json;
}
