import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';

const types = ['application/json', 'application/merge-patch+json'];

const parse = bodyParser({
  enableTypes: ['json'],
  extendTypes: { json: types },
  jsonLimit: '100kb',
  // The parser's own errors have a status: 400, 413 or 415.
  onerror: (error, ctx) => ctx.throw('status' in error ? Number(error.status) : 500, error.message),
});

/** Reads a JSON body into `ctx.request.body`. Otherwise, the response is 400, 413 or 415. */
export const jsonBody: Middleware = (ctx, next) => {
  if (!ctx.is(types)) ctx.throw(415, `The Content-Type must be ${types.join(' or ')}.`);
  return parse(ctx, next);
};
