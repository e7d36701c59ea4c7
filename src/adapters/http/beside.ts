import type { Context, Middleware } from 'koa';
import type { CustomFilters } from '../../domain/custom-filters.ts';
import { isRostrumError, storeUnavailable } from '../../domain/errors.ts';
import { metadataPath, resourceMetadata } from './access/metadata.ts';
import { exchangeOf } from './exchange.ts';
import { openApiDocument } from './openapi/document.ts';
import type { RostrumAppOptions } from './options.ts';
import { docsPage } from './pages/docs.ts';
import { homePage } from './pages/home.ts';
import { problemPage } from './problems/page.ts';
import { readOnly } from './request/read-only.ts';
import { below, publicBase } from './request/target.ts';
import { json, type Response, respond, revalidated } from './response.ts';

/** How long a store may take to say that it is ready. */
const readyTimeoutMs = 2000;

/** `Allow` of the server as a whole. */
export const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

type Page = (ctx: Context) => Response | Promise<Response>;

/** What the program serves beside the API: pages, the description, probes, the problems. */
export function serveBeside(customFilters: CustomFilters, options: RostrumAppOptions): Middleware {
  const { ready, issuer, publicUrl, prefix = '/api/v1' } = options;
  const site = publicUrl === undefined ? '' : publicBase(publicUrl);
  let described: Response | undefined;
  const describeApi = () => {
    if (described === undefined) {
      const document = Buffer.from(JSON.stringify(openApiDocument(customFilters, options)));
      described = json(200, document, revalidated);
    }
    return described;
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/', async (ctx) => homePage(ctx, site, prefix, await isReady(ready))],
    ['/openapi.json', describeApi],
    ['/livez', () => ok],
    ['/readyz', () => readiness(ready)],
  ]);
  const metadata = options.authenticate === undefined ? '' : metadataPath(prefix);
  return async (ctx, next) => {
    const exchange = exchangeOf(ctx);
    if (exchange === undefined) return next();
    exchange.metadataPath = metadata;
    const { path, isValid } = exchange.target;
    if (!isValid && path !== '*') return next();
    const problem = below('/problems', path);
    const docs = below('/docs', path);
    const page = pages.get(path);
    const serve = async (endpoint: string, read: Page) => {
      exchange.endpoint = endpoint;
      respond(ctx, await readOnly(ctx, () => read(ctx)));
    };
    if (page !== undefined) return serve(path, page);
    if (docs !== undefined) return serve('/docs', () => docsPage(site, docs));
    if (problem !== undefined) {
      exchange.endpoint = '/problems';
      return respond(ctx, problemPage(ctx, exchange, problem.slice(1)));
    }
    if (path === metadata) {
      exchange.endpoint = metadata;
      return respond(ctx, resourceMetadata(ctx, exchange, prefix, issuer));
    }
    if (path === '*' && ctx.method === 'OPTIONS') return respond(ctx, serverOptions);
    return next();
  };
}

/** The process responds. */
const ok = json(200, JSON.stringify({ status: 'ok' }), ['Cache-Control', 'no-store']);

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
const serverOptions: Response = { status: 204, headers: ['Allow', allMethods] };

async function isReady(ready: () => Promise<void>): Promise<boolean> {
  try {
    await readiness(ready);
    return true;
  } catch {
    return false;
  }
}

/** @throws RostrumError `store-unavailable`, whatever the reason */
async function readiness(ready: () => Promise<void>): Promise<Response> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(storeUnavailable('none')), readyTimeoutMs);
  try {
    await Promise.race([ready(), late]);
  } catch (cause) {
    throw isRostrumError(cause, 'store-unavailable') ? cause : storeUnavailable('none', cause);
  } finally {
    clearTimeout(timer);
  }
  return ok;
}
