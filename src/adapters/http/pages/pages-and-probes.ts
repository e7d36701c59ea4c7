import type { Context, Middleware } from 'koa';
import { scopes } from '../../../domain/caller.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { authentication } from '../access/authenticate.ts';
import { metadataPath, resourceMetadata } from '../access/metadata.ts';
import { limitAddress, limitCaller } from '../access/rate-limit.ts';
import { chained, exchangeOf } from '../exchange.ts';
import type { Room } from '../load/room.ts';
import type { RostrumAppOptions } from '../options.ts';
import { Problem, unserved } from '../problems/problem.ts';
import { allMethods, readOnly } from '../request/read-only.ts';
import { below, publicBase } from '../request/target.ts';
import { type Response, respond, revalidated } from '../response.ts';
import { adminPage, callerResponse, hasAdmin } from './admin.ts';
import { docsPage, hasDocsPage } from './docs.ts';
import { Files, types } from './files.ts';
import { llmsText } from './guides.ts';
import { facts, homeFiles, homePage } from './home.ts';
import { wantsPage } from './html.ts';
import { missingPage } from './missing.ts';
import { alive, Readiness } from './probes.ts';
import { problemPage } from './problem.ts';
import { type Site, siteOf } from './site.ts';
import { favicon } from './style.ts';

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
const serverOptions: Response = { status: 204, headers: ['Allow', allMethods] };

type Page = (ctx: Context) => Response | Promise<Response>;

const isInstalled = { home: () => true, docs: hasDocsPage, admin: hasAdmin };

/**
 * What the program serves beside the API: pages, the description, the problems, which go through the
 * room, and probes, which stand before it.
 *
 * @param describe makes the description of the API
 */
export function pagesAndProbes(
  rostrum: AnyRostrum,
  describe: () => object,
  options: RostrumAppOptions,
  room: Room,
): Middleware {
  const { issuer, publicUrl, prefix = '/api/v1', authenticate, anonymous, logger } = options;
  const site = siteOf(publicBase(publicUrl) ?? '', prefix, options.pages, isInstalled);
  const readiness = new Readiness(options.ready);
  const description = new Files(() => [
    ['/openapi.json', 'application/json', () => `${JSON.stringify(describe())}\n`],
  ]);
  const probes: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/livez', () => alive],
    ['/readyz', () => readiness.check()],
  ]);
  const metadata = authenticate === undefined ? '' : metadataPath(prefix);
  const { rateLimits = {} } = options;
  const { failures } = rateLimits;
  /** As a request of the API is. Any scope will do: it is told which there are. */
  const named = chained([
    limitAddress(rateLimits),
    authentication({ rostrum, authenticate, anonymous, failures, logger })(scopes),
    limitCaller(rateLimits),
  ]);
  const caller = async (ctx: Context) => {
    try {
      await named(ctx as Parameters<typeof named>[0], async () => {});
    } catch (error) {
      const isNameless = error instanceof Problem && error.code === 'unauthenticated';
      // Who sends no credentials has done nothing wrong, and is told that some are asked for.
      if (!isNameless || ctx.headers.authorization !== undefined) throw error;
    }
    return callerResponse(ctx.state.exchange, authenticate !== undefined, facts(options));
  };
  const llms = async ({ state: { exchange } }: Context): Promise<Response> => {
    const body = await llmsText(site.base || exchange.site);
    return { status: 200, headers: revalidated, body, type: types.md };
  };
  const icon: Response = {
    status: 200,
    headers: revalidated,
    body: favicon,
    type: 'image/svg+xml',
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/', async (ctx) => homePage(ctx, site, options, await readiness.isReady())],
    ['/home.js', (ctx) => fileOf(ctx, homeFiles, '/home.js')],
    ['/openapi.json', (ctx) => fileOf(ctx, description, '/openapi.json')],
    ...(site.pages.has('docs') ? [['/llms.txt', llms] as const] : []),
    ['/favicon.ico', () => icon],
    [metadata, (ctx) => resourceMetadata(ctx, ctx.state.exchange, prefix, issuer)],
    ...(site.pages.has('admin') ? [['/admin/caller', caller] as const] : []),
  ]);
  const folders: readonly (readonly [
    path: string,
    page: (ctx: Context, rest: string) => ReturnType<Page>,
  ])[] = [
    ...((options.pages?.includes('docs') ?? true)
      ? [['/docs', (ctx: Context, rest: string) => docsPage(ctx, site, rest)] as const]
      : []),
    ...(site.pages.has('admin')
      ? [['/admin', (ctx: Context, rest: string) => adminPage(ctx, site, rest)] as const]
      : []),
  ];

  /** The page of a path, under the name that the log has for it. */
  function pageOf(path: string): readonly [name: string, page: Page] | undefined {
    const page = pages.get(path);
    if (page !== undefined) return [path, (ctx) => readOnly(ctx, () => page(ctx))];
    for (const [name, folder] of folders) {
      const rest = below(name, path);
      if (rest !== undefined) return [name, (ctx) => readOnly(ctx, () => folder(ctx, rest))];
    }
    const problem = below('/problems', path);
    if (problem === undefined) return undefined;
    return ['/problems', (ctx) => problemPage(ctx, ctx.state.exchange, problem.slice(1), site)];
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
    const isPerson = ctx.method === 'GET' && wantsPage(ctx);
    const led = isPerson ? leadOn(path, site) : undefined;
    if (led !== undefined) return respond(ctx, led);
    const found = pageOf(path);
    try {
      if (found === undefined) return await next();
      const [name, page] = found;
      exchange.endpoint = name;
      const visit = room.enter(exchange, 'read', path);
      try {
        respond(ctx, await visit.make(async () => page(ctx)));
      } finally {
        visit.leave();
      }
    } catch (error) {
      const isMissing = error instanceof Problem && error.code === 'path-not-found';
      if (!isPerson || !isMissing || below(prefix, path) !== undefined) throw error;
      exchange.problem = error.code;
      respond(ctx, missingPage(error, site));
    }
  };
}

/** @throws Problem `path-not-found` */
async function fileOf(ctx: Context, files: Files, path: string): Promise<Response> {
  const file = await files.find(ctx, path);
  if (file === undefined) throw unserved({ isValid: true });
  return file;
}

/** Where a person is led that opens a path which is none for people. */
function leadOn(path: string, { base, prefix, pages }: Site): Response | undefined {
  const [, page] = /^(\/(?:docs|admin|problems)(?:\/[\w-]+)*)\/$/.exec(path) ?? [];
  const isApi = prefix !== '' && (path === prefix || path === `${prefix}/`);
  const instead = page ?? (isApi ? (pages.has('docs') ? '/docs' : '/') : undefined);
  if (instead === undefined) return undefined;
  return { status: 307, headers: ['Location', base + instead, 'Vary', 'Accept'] };
}
