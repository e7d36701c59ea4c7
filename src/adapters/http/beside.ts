import type { Middleware } from 'koa';
import { storeUnavailable } from '../../domain/errors.ts';
import { metadataPath, resourceMetadata } from './access/metadata.ts';
import { exchangeOf } from './exchange.ts';
import type { RostrumAppOptions } from './options.ts';
import { problemPage } from './problems/page.ts';
import { readOnly } from './request/read-only.ts';
import { below } from './request/target.ts';
import { json, type Response } from './response.ts';

/** How long a store may take to say that it is ready. */
const readyTimeoutMs = 2000;

/** `Allow` of the server as a whole. */
export const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** What the program serves beside the API: probes, and the pages of the problems. */
export function serveBeside(options: RostrumAppOptions): Middleware {
  const { ready, issuer, prefix = '/api/v1' } = options;
  const metadata = options.authenticate === undefined ? '' : metadataPath(prefix);
  return async (ctx, next) => {
    const exchange = exchangeOf(ctx);
    if (exchange === undefined) return next();
    exchange.metadataPath = metadata;
    const { path } = exchange.target;
    const problem = below('/problems', path);
    if (path === '/livez') exchange.response = readOnly(ctx, () => ok);
    else if (path === '/readyz') exchange.response = await readOnly(ctx, () => readiness(ready));
    else if (problem !== undefined)
      exchange.response = problemPage(ctx, exchange, problem.slice(1));
    else if (path === metadata) exchange.response = resourceMetadata(ctx, exchange, prefix, issuer);
    else if (path === '*' && ctx.method === 'OPTIONS') exchange.response = serverOptions;
    else return next();
  };
}

/** The process responds. */
const ok = json(200, JSON.stringify({ status: 'ok' }), ['Cache-Control', 'no-store']);

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
const serverOptions: Response = { status: 204, headers: ['Allow', allMethods] };

/** @throws RostrumError `store-unavailable` */
async function readiness(ready: () => Promise<void>): Promise<Response> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(storeUnavailable('none')), readyTimeoutMs);
  try {
    await Promise.race([ready(), late]);
  } finally {
    clearTimeout(timer);
  }
  return ok;
}
