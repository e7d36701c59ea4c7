import type { RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
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

export const idOf = (ctx: RouterContext): string => ctx.params.id ?? '';

/** Returns the versions in If-Match (RFC 9110), or undefined if the client accepts every version. */
export function versionsOf(ctx: Context): number[] | undefined {
  const header = ctx.get('If-Match');
  if (header === '' || header === '*') return undefined;
  // Any other tag, such as a weak one, becomes NaN and matches no version.
  return header.split(',').map((tag) => Number(/^\s*"(\d+)"\s*$/.exec(tag)?.[1]));
}

/** Sends a record with its ETag. */
export function sendVersion(ctx: Context, record: { readonly version: number }): void {
  ctx.set('ETag', `"${record.version}"`);
  ctx.body = record;
}
