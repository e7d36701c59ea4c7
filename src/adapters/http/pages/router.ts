import { Router } from '@koa/router';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { mcpPath, metadataPath, resourceMetadata } from '../access/metadata.ts';
import { type Context, type RostrumState, type Step, setOperation } from '../context.ts';
import { allMethods } from '../endpoint.ts';
import type { Limiter } from '../limits.ts';
import { readiness, sendOk } from '../operator/probes.ts';
import { allPages, type RostrumAppOptions } from '../options.ts';
import { Problem } from '../problems/problem.ts';
import { sendJson } from '../send.ts';
import { escapePath, normalizePrefix, normalizePublicUrl, pathBelow } from '../target.ts';
import { callerHandler, hasAdmin, sendAdmin } from './admin.ts';
import { docsFiles, hasDocs, sendDocs } from './docs.ts';
import { fileHandler } from './files.ts';
import { sendHome } from './home.ts';
import { escapeHtml, favicon, negotiateHtml, type Site, sendHtml } from './html.ts';
import { addProblems } from './problems.ts';

/**
 * Serves everything except the API: pages, the description, problems and probes.
 *
 * @param describe returns the description of the API
 */
export function servePages(
  rostrum: AnyRostrum,
  describe: () => object,
  options: RostrumAppOptions,
  limiter: Limiter,
): Step {
  const prefix = normalizePrefix(options.prefix);
  const site = siteOf(options);
  const routes = routesOf(site, rostrum, describe, options, limiter).routes();
  return async (ctx, next) => {
    const { method, path } = ctx;
    // The pages are not below the prefix: requests of the API skip their routes.
    const isApi = prefix !== '' && pathBelow(prefix, path) !== undefined;
    if (isApi && path.length > prefix.length + 1) return next();
    if (path === '*' && method === 'OPTIONS') {
      // `OPTIONS *` asks about the server as a whole (RFC 9110, section 9.3.7).
      ctx.status = 204;
      ctx.set('Allow', allMethods.join(', '));
      return;
    }
    try {
      await routes(ctx, next);
    } catch (error) {
      const isMissing = error instanceof Problem && error.code === 'path-not-found';
      const isRead = method === 'GET' || method === 'HEAD';
      if (!isMissing || !isRead || !negotiateHtml(ctx)) throw error;
      redirectToPage(ctx, site, error, isApi);
    }
  };
}

function siteOf({ publicUrl, pages = allPages }: RostrumAppOptions): Site {
  const base = normalizePublicUrl(publicUrl) ?? '';
  const isInstalled = { home: true, docs: hasDocs(), admin: hasAdmin() };
  const served = new Set(pages.filter((name) => isInstalled[name]));
  const all = [
    ['home', '/', 'Rostrum'],
    ['docs', '/docs', 'API reference'],
    ['admin', '/admin', 'Admin'],
  ] as const;
  const links = all
    .filter(([page]) => served.has(page) || page === 'home')
    .map(([, path, name]) => [base + path, name] as const);
  return { base, pages: served, links };
}

function routesOf(
  site: Site,
  rostrum: AnyRostrum,
  describe: () => object,
  options: RostrumAppOptions,
  limiter: Limiter,
): Router<RostrumState> {
  const { authenticate, mcp, pages = allPages } = options;
  const isReady = readiness(options.ready);
  const router = new Router<RostrumState>({ sensitive: true, strict: true });
  const admission = [limiter.admit, limiter.run()];
  const page = (path: string, send: Step, name = path) =>
    router.get(path, setOperation(name), ...admission, send);

  router.get('/livez', setOperation('/livez'), sendOk);
  router.get('/readyz', setOperation('/readyz'), async (ctx) => {
    await isReady();
    sendOk(ctx);
  });
  page('/', async (ctx) => {
    const ready = isReady().then(
      () => true,
      () => false,
    );
    await sendHome(ctx, site, options, await ready);
  });
  const description = { type: 'application/json', read: () => `${JSON.stringify(describe())}\n` };
  page('/openapi.json', fileHandler(description));
  page('/favicon.ico', fileHandler({ type: 'image/svg+xml', read: () => favicon }));
  addProblems((path, send) => page(path, send, '/problems'), site);
  if (authenticate !== undefined) {
    const prefix = normalizePrefix(options.prefix);
    for (const path of mcp === undefined ? [prefix] : [prefix, mcpPath]) {
      page(escapePath(metadataPath(path)), (ctx) => sendJson(ctx, resourceMetadata(ctx, path)));
    }
  }
  if (pages.includes('docs')) {
    // Without the package, /docs is a 404 that says what to install.
    page('/docs', (ctx) => sendDocs(ctx, site));
    for (const [name, file] of Object.entries(site.pages.has('docs') ? docsFiles : {})) {
      page(`/docs/${name}`, fileHandler(file), '/docs');
    }
  }
  if (site.pages.has('admin')) {
    page('/admin/caller', callerHandler(rostrum, options));
    page('/admin', (ctx) => sendAdmin(ctx, site));
    page('/admin/*path', (ctx) => sendAdmin(ctx, site), '/admin');
  }
  return router;
}

/** Redirects a browser from the API's root or a trailing slash, or sends the page "Page not found". */
function redirectToPage(ctx: Context, site: Site, problem: Problem, isApi: boolean): void {
  const [, stripped] = /^(\/(?:docs|admin|problems)(?:\/[\w-]+)*)\/$/.exec(ctx.path) ?? [];
  const page = isApi ? (site.pages.has('docs') ? '/docs' : '/') : stripped;
  if (page !== undefined) {
    ctx.redirect(site.base + page);
    ctx.status = 307;
    return;
  }
  ctx.state.rostrum.problem = problem;
  sendHtml(ctx, site, 'Page not found', `<main><h1>${escapeHtml(problem.message)}</h1></main>`);
  ctx.status = 404;
}
