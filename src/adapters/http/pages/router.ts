import type { Router } from '@koa/router';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { mcpPath, metadataPath, resourceMetadata } from '../access/metadata.ts';
import type { Checked, CheckedOptions } from '../check-options.ts';
import {
  composeSteps,
  createRouter,
  type Middleware,
  type RostrumState,
  sendJson,
  setOperation,
} from '../context.ts';
import { readiness, sendOk } from '../operator/probes.ts';
import { allPages, type RostrumAppOptions } from '../options.ts';
import { escapePath } from '../target.ts';
import { identifyCaller, sendAdmin, sendCaller } from './admin.ts';
import { hasAdmin } from './assets.ts';
import { docsFiles, hasDocs, sendDocs } from './docs.ts';
import { fileHandler } from './files.ts';
import { sendHome } from './home.ts';
import { favicon, type Site } from './html.ts';
import { problemsPath, sendProblems } from './problems.ts';

function siteOf({ publicUrl: base = '', pages = allPages }: CheckedOptions): Site {
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

/**
 * The routes of everything except the API: pages, the description, problems and probes.
 *
 * @param describe returns the description of the API
 */
export function pagesRouter(
  rostrum: AnyRostrum,
  describe: () => Promise<object>,
  options: Checked<RostrumAppOptions>,
): Router<RostrumState> {
  const { authenticate, mcp, prefix, pages = allPages } = options;
  const site = siteOf(options);
  const isReady = readiness(options.ready);
  const router = createRouter();
  const page = (path: string, send: Middleware, name = path, identify?: Middleware) => {
    router.get(path, composeSteps([setOperation(name), identify, send]));
  };
  // Not `router.redirect`, which answers every method, nor `ctx.redirect`, which parses `Accept` in quadratic time.
  const redirect = (path: string) =>
    router.get(`${path}/`, (ctx) => {
      ctx.status = 307;
      ctx.set('Location', site.base + path);
    });

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
  const description = {
    type: 'application/json',
    read: async () => `${JSON.stringify(await describe())}\n`,
  };
  page('/openapi.json', fileHandler(description));
  page('/favicon.ico', fileHandler({ type: 'image/svg+xml', read: () => favicon }));
  page(problemsPath, (ctx) => sendProblems(ctx, site), '/problems');
  if (authenticate !== undefined) {
    for (const path of mcp === undefined ? [prefix] : [prefix, mcpPath]) {
      page(escapePath(metadataPath(path)), (ctx) => sendJson(ctx, resourceMetadata(ctx, path)));
    }
  }
  if (pages.includes('docs')) {
    // Without the package, /docs is a 404 that says what to install.
    page('/docs', (ctx) => sendDocs(ctx, site));
    redirect('/docs');
    for (const [name, file] of Object.entries(site.pages.has('docs') ? docsFiles : {})) {
      page(`/docs/${name}`, fileHandler(file), '/docs');
    }
  }
  if (site.pages.has('admin')) {
    const [path, identify] = ['/admin/caller', identifyCaller(rostrum, options)] as const;
    page(path, (ctx) => sendCaller(ctx, options), path, identify);
    page('/admin', (ctx) => sendAdmin(ctx, site));
    redirect('/admin');
    page('/admin/*path', (ctx) => sendAdmin(ctx, site), '/admin');
  }
  return router;
}
