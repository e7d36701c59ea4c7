import type { Context, Middleware } from 'koa';
import { metadataPath, resourceMetadata } from '../access/metadata.ts';
import { exchangeOf } from '../exchange.ts';
import type { Room } from '../load/room.ts';
import type { RostrumAppOptions } from '../options.ts';
import { allMethods, readOnly } from '../request/read-only.ts';
import { below, publicBase } from '../request/target.ts';
import { json, type Response, respond, revalidated } from '../response.ts';
import { docsPage } from './docs.ts';
import { homePage } from './home.ts';
import { alive, Readiness } from './probes.ts';
import { problemPage } from './problem.ts';

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
const serverOptions: Response = { status: 204, headers: ['Allow', allMethods] };

type Page = (ctx: Context) => Response | Promise<Response>;

/**
 * What the program serves beside the API: pages, the description, the problems, which go through the
 * room, and probes, which stand before it.
 *
 * @param describe makes the description of the API
 */
export function pagesAndProbes(
  describe: () => object,
  options: RostrumAppOptions,
  room: Room,
): Middleware {
  const { issuer, publicUrl, prefix = '/api/v1' } = options;
  const site = publicBase(publicUrl) ?? '';
  const readiness = new Readiness(options.ready);
  let described: Response | undefined;
  const describeApi = () => {
    described ??= json(200, Buffer.from(`${JSON.stringify(describe())}\n`), revalidated);
    return described;
  };
  const probes: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/livez', () => alive],
    ['/readyz', () => readiness.check()],
  ]);
  const metadata = options.authenticate === undefined ? '' : metadataPath(prefix);
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/', async (ctx) => homePage(ctx, site, prefix, await readiness.isReady())],
    ['/openapi.json', describeApi],
    [metadata, (ctx) => resourceMetadata(ctx, ctx.state.exchange, prefix, issuer)],
  ]);

  /** The page of a path, under the name that the log has for it. */
  function pageOf(path: string): readonly [name: string, page: Page] | undefined {
    const page = pages.get(path);
    if (page !== undefined) return [path, (ctx) => readOnly(ctx, () => page(ctx))];
    const docs = below('/docs', path);
    if (docs !== undefined)
      return ['/docs', (ctx) => readOnly(ctx, () => docsPage(ctx, site, docs))];
    const problem = below('/problems', path);
    if (problem === undefined) return undefined;
    return ['/problems', (ctx) => problemPage(ctx, ctx.state.exchange, problem.slice(1))];
  }

  return async (ctx, next) => {
    const exchange = exchangeOf(ctx);
    if (exchange === undefined) return next();
    exchange.metadataPath = metadata;
    const { path, isValid } = exchange.target;
    if (path === '*' && ctx.method === 'OPTIONS') return respond(ctx, serverOptions);
    if (!isValid) return next();
    const probe = probes.get(path);
    if (probe !== undefined) {
      exchange.endpoint = path;
      return respond(ctx, await readOnly(ctx, () => probe(ctx)));
    }
    const found = pageOf(path);
    if (found === undefined) return next();
    const [name, page] = found;
    exchange.endpoint = name;
    const visit = room.enter(exchange, 'read', path);
    try {
      respond(ctx, await visit.make(async () => page(ctx)));
    } finally {
      visit.leave();
    }
  };
}
