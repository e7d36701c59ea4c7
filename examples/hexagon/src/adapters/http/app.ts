import { Router, type RouterContext } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Versioned } from '../../domain/version.ts';
import type { Notes } from '../../use-cases/notes.ts';
import type { Owners } from '../../use-cases/owners.ts';
import { handleErrors } from './problems.ts';

/** Requests pass through the middleware from top to bottom. */
export function createApp(owners: Owners, notes: Notes): Koa {
  const router = new Router();
  addRoutes(router, '/owners', owners);
  addRoutes(router, '/notes', notes);

  const app = new Koa();
  app.use(handleErrors);
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

/** The use cases have the same names for each resource. */
function addRoutes(router: Router, path: string, resource: Owners | Notes): void {
  router.get(path, async (ctx) => {
    const { limit, ...query } = ctx.query;
    ctx.body = await resource.list(limit ? { ...query, limit: Number(limit) } : query);
  });
  router.post(path, jsonBody, async (ctx) => {
    const record = await resource.create(ctx.request.body);
    ctx.status = 201;
    ctx.set('Location', `${path}/${record.id}`);
    sendVersion(ctx, record);
  });
  router.get(`${path}/:id`, async (ctx) => sendVersion(ctx, await resource.get(idOf(ctx))));
  router.patch(`${path}/:id`, jsonBody, async (ctx) => {
    sendVersion(ctx, await resource.change(idOf(ctx), ctx.request.body, versionsOf(ctx)));
  });
  router.delete(`${path}/:id`, async (ctx) => {
    await resource.remove(idOf(ctx), versionsOf(ctx));
    ctx.status = 204;
  });
}

const types = ['application/json', 'application/merge-patch+json'];
const parse = bodyParser({
  extendTypes: { json: types },
  onerror: (error, ctx) => ctx.throw('status' in error ? Number(error.status) : 500, error.message),
});

/** Reads a JSON body into `ctx.request.body`. Otherwise, the response is 400, 413 or 415. */
const jsonBody: Middleware = (ctx, next) => {
  if (!ctx.is(types)) ctx.throw(415, `The Content-Type must be ${types.join(' or ')}.`);
  return parse(ctx, next);
};

const idOf = (ctx: RouterContext): string => ctx.params.id ?? '';

/** Returns the versions in If-Match (RFC 9110), or undefined if the client accepts every version. */
function versionsOf(ctx: Context): number[] | undefined {
  const header = ctx.get('If-Match');
  if (header === '' || header === '*') return undefined;
  // Any other tag, such as a weak one, becomes NaN and matches no version.
  return header.split(',').map((tag) => Number(/^\s*"(\d+)"\s*$/.exec(tag)?.[1]));
}

function sendVersion(ctx: Context, record: Versioned): void {
  ctx.set('ETag', `"${record.version}"`);
  ctx.body = record;
}
