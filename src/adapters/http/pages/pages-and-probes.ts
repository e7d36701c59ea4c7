import type { Middleware } from 'koa';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { metadataPath } from '../access/metadata.ts';
import { exchangeOf } from '../exchange.ts';
import type { Room } from '../load/room.ts';
import type { RostrumAppOptions } from '../options.ts';
import { Problem } from '../problems/problem.ts';
import { allMethods, readOnly } from '../request/read-only.ts';
import { below, publicBase } from '../request/target.ts';
import { type Response, respond } from '../response.ts';
import { hasAdmin } from './admin.ts';
import { hasDocsPage } from './docs.ts';
import { wantsPage } from './html.ts';
import { missingPage } from './missing.ts';
import { createPages, type Page } from './pages.ts';
import { alive, Readiness } from './probes.ts';
import { type Site, siteOf } from './site.ts';

/** `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7). */
const serverOptions: Response = { status: 204, headers: ['Allow', allMethods] };

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
  const { publicUrl, prefix = '/api/v1', authenticate } = options;
  const site = siteOf(publicBase(publicUrl) ?? '', prefix, options.pages, isInstalled);
  const readiness = new Readiness(options.ready);
  const probes: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/livez', () => alive],
    ['/readyz', () => readiness.check()],
  ]);
  const metadata = authenticate === undefined ? '' : metadataPath(prefix);
  const pageOf = createPages({ rostrum, describe, options, site, readiness, metadata });

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

/** Where a person is led that opens a path which is none for people. */
function leadOn(path: string, { base, prefix, pages }: Site): Response | undefined {
  const [, page] = /^(\/(?:docs|admin|problems)(?:\/[\w-]+)*)\/$/.exec(path) ?? [];
  const isApi = prefix !== '' && (path === prefix || path === `${prefix}/`);
  const instead = page ?? (isApi ? (pages.has('docs') ? '/docs' : '/') : undefined);
  if (instead === undefined) return undefined;
  return { status: 307, headers: ['Location', base + instead, 'Vary', 'Accept'] };
}
