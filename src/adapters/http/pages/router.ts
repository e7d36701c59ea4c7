import { Router } from '@koa/router';
import { scopes } from '../../../domain/caller.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { authentication } from '../access/authenticate.ts';
import { mcpPath, metadataPath, resourceMetadata } from '../access/metadata.ts';
import { limitAddress, limitCaller } from '../access/rate-limit.ts';
import { type Context, compose, type RostrumState, type Step, setOperation } from '../context.ts';
import { allMethods } from '../endpoint.ts';
import type { Limiter } from '../limits.ts';
import { readiness, sendOk } from '../operator/probes.ts';
import { allPages, type RostrumAppOptions } from '../options.ts';
import { Problem } from '../problems/problem.ts';
import { sendJson } from '../send.ts';
import { escapePath, pathBelow, prefixPath, publicBase } from '../target.ts';
import { callerOf, hasAdmin, sendAdmin } from './admin.ts';
import { docsFiles, hasDocs, sendDocs } from './docs.ts';
import { sendFile } from './files.ts';
import { facts, sendHome } from './home.ts';
import { escapeHtml, favicon, type Site, sendPage, wantsPage } from './html.ts';
import { addProblems } from './problems.ts';

/**
 * Everything except the API: pages, the description, problems and probes.
 *
 * @param describe returns the description of the API
 */
export function pagesRouter(
  rostrum: AnyRostrum,
  describe: () => object,
  options: RostrumAppOptions,
  limiter: Limiter,
): Step {
  const { authenticate, rateLimits } = options;
  const prefix = prefixPath(options.prefix);
  const base = publicBase(options.publicUrl) ?? '';
  const wanted = options.pages ?? allPages;
  const isInstalled = { home: true, docs: hasDocs(), admin: hasAdmin() };
  const pages = new Set(wanted.filter((name) => isInstalled[name]));
  const all = [
    ['home', '/', 'Rostrum'],
    ['docs', '/docs', 'API reference'],
    ['admin', '/admin', 'Admin'],
  ] as const;
  const links = all.flatMap(([page, path, name]) =>
    pages.has(page) || page === 'home' ? [[base + path, name] as const] : [],
  );
  const site: Site = { base, links };
  const isReady = readiness(options.ready);

  const router = new Router<RostrumState>({ sensitive: true, strict: true });
  const page = (path: string, send: Step, name = path) =>
    router.get(
      path,
      compose([
        setOperation(name),
        limiter.admit('pages'),
        limiter.run(() => ({ name: 'pages' })),
        send,
      ]),
    );

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
    sendHome(ctx, site, options, pages, await ready);
  });
  const description = { type: 'application/json', read: () => `${JSON.stringify(describe())}\n` };
  page('/openapi.json', sendFile(description));
  page('/favicon.ico', sendFile({ type: 'image/svg+xml', read: () => favicon }));
  addProblems((path, send) => page(path, send, '/problems'), site);
  const resources = options.mcp === undefined ? [prefix] : [prefix, mcpPath];
  for (const path of authenticate === undefined ? [] : resources) {
    page(escapePath(metadataPath(path)), (ctx) =>
      sendJson(ctx, 200, `${JSON.stringify(resourceMetadata(ctx, path))}\n`),
    );
  }
  if (wanted.includes('docs')) {
    page('/docs', (ctx) => sendDocs(ctx, site));
    for (const [name, file] of Object.entries(pages.has('docs') ? docsFiles : {})) {
      page(`/docs/${name}`, sendFile(file), '/docs');
    }
  }
  if (pages.has('admin')) {
    page('/admin/caller', caller());
    page('/admin', (ctx) => sendAdmin(ctx, site));
    page('/admin/*path', (ctx) => sendAdmin(ctx, site), '/admin');
  }
  const routes = router.routes();

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
      if (!isMissing || method !== 'GET' || !wantsPage(ctx)) throw error;
      redirectToPage(ctx, error, isApi);
    }
  };

  /** Redirects a browser from a path with a trailing slash, or sends the page "Page not found". */
  function redirectToPage(ctx: Context, problem: Problem, isApi: boolean): void {
    const [, stripped] = /^(\/(?:docs|admin|problems)(?:\/[\w-]+)*)\/$/.exec(ctx.path) ?? [];
    const page = isApi ? (pages.has('docs') ? '/docs' : '/') : stripped;
    if (page !== undefined) {
      ctx.redirect(base + page);
      ctx.status = 307;
      return;
    }
    ctx.state.rostrum.problem = problem;
    sendPage(ctx, site, 'Page not found', `<main><h1>${escapeHtml(problem.message)}</h1></main>`);
    ctx.status = 404;
  }

  /** Identifies the caller as the API does. Any scope is enough, because the response lists the scopes. */
  function caller(): Step {
    const steps = [
      limitAddress(rateLimits),
      authentication(rostrum, options)(scopes),
      limitCaller(rateLimits),
    ];
    const identify = compose(steps.filter((step) => step !== undefined));
    return async (ctx) => {
      try {
        await identify(ctx, async () => {});
      } catch (error) {
        const isUnnamed = error instanceof Problem && error.code === 'unauthenticated';
        if (!isUnnamed || ctx.headers.authorization !== undefined) throw error;
      }
      const body = callerOf(ctx, authenticate !== undefined, facts(options));
      ctx.vary('Authorization');
      sendJson(ctx, 200, `${JSON.stringify(body)}\n`);
      ctx.set('Cache-Control', 'no-store');
    };
  }
}
