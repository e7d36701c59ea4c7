import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import Koa, { type Middleware as KoaMiddleware } from 'koa';
import { storeUnavailable } from '../../domain/errors.ts';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import type { Logger } from '../../ports/logger.ts';
import { cors } from './access/cors.ts';
import { type CheckedOptions, checkAppOptions } from './check-options.ts';
import { composeSteps, createRouter, type Middleware, setOperation } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { endpointsFor } from './endpoints/index.ts';
import { mcpEndpoints } from './endpoints/mcp.ts';
import { handleErrors, reportErrors } from './errors.ts';
import { Limiter } from './limits/limiter.ts';
import { logRequests } from './operator/log.ts';
import { countRequests } from './operator/metrics.ts';
import { sendOk } from './operator/probes.ts';
import type { RostrumAppOptions, RostrumHttpOptions } from './options.ts';
import { problemsRouter } from './pages/problems.ts';
import { pagesRouter } from './pages/router.ts';
import { Problem } from './problems/problem.ts';
import { checkTarget, initState, rejectDuringShutdown } from './request.ts';
import { apiRouter, notFound, otherMethods } from './router.ts';
import { parseTarget, pathBelow, restoreBaseUrl } from './target.ts';

/**
 * Creates the middleware chain of every request, from the first step to the last. All of these use it:
 * `createApp`, `rostrumMiddleware`, `rostrumListener`, `rostrum/fetch`, and the apps for metrics and for a server whose
 * store is not open yet.
 *
 * @param routers the routes of pages and of the API
 */
function createMiddleware(
  options: CheckedOptions,
  isWholeSite: boolean,
  routers: readonly Middleware[],
): KoaMiddleware {
  const { logger, accessLog = true, metrics, trace, isOwnHost } = options;
  return composeSteps([
    initState(options, isWholeSite), // ctx.state.rostrum, and the headers of every response
    isWholeSite ? batchResponses : undefined,
    logger && accessLog ? logRequests(logger) : undefined,
    metrics && countRequests(metrics),
    trace,
    cors(options.cors),
    handleErrors(logger), // Every error below becomes a problem here.
    rejectDuringShutdown, // 503
    checkTarget(isOwnHost), // 414, 400, 421
    ...routers, // Everything that is served
    otherMethods, // OPTIONS, 405
    notFound, // 404
  ]) as KoaMiddleware;
}

/**
 * Creates the app of the whole program: the API, its description, the pages and the probes. Middleware that you
 * add with `app.use` handles all other paths.
 *
 * @throws TypeError for an unknown or invalid option
 */
export function createApp(rostrum: AnyRostrum, options: RostrumAppOptions): Koa {
  const checked = checkAppOptions(options, 'app');
  if (options.ready === undefined) throw new TypeError('The option "ready" is missing.');
  const limiter = limiterFor(checked);
  const api = (path: string, endpoints: readonly Endpoint[]) =>
    apiRouter(rostrum, path, checked, limiter, endpoints).routes();
  // Loaded with the first request for it.
  const describe = async () => {
    const { openApiDocument } = await import('./openapi/document.ts');
    return openApiDocument(rostrum.declaredFields, options);
  };
  return siteApp(checked, [
    api(checked.prefix, endpointsFor(rostrum.declaredFields)),
    api('', mcpEndpoints(checked)),
    pagesRouter(rostrum, describe, checked).routes(),
  ]);
}

/**
 * Returns middleware that serves Rostrum in another Koa app: the paths below the prefix, and nothing else.
 *
 * It works below a mount path (`koa-mount`), too: `Location`, `Link` and `type` are paths as the client
 * sees them. Put it before any middleware that reads bodies.
 *
 * @throws TypeError for an unknown or invalid option
 */
export function rostrumMiddleware(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions = {},
): KoaMiddleware {
  const checked = checkAppOptions(options, 'http');
  const serve = apiChain(rostrum, checked);
  // Outside the prefix neither the router nor the chain runs, so `ctx.matched` and `ctx.state` stay untouched.
  return (ctx, next) =>
    pathBelow(checked.prefix, parseTarget(ctx.url).path) === undefined
      ? next()
      : serve(ctx, async () => {});
}

/**
 * Returns middleware for routes of your own: an error of the core that they throw, or one with a numeric `status`,
 * such as one from `ctx.throw(404)`, becomes a problem as in Rostrum's own responses (RFC 9457); any other becomes an opaque 500.
 *
 * Every response gets the headers `X-Request-Id` and `X-Content-Type-Options`.
 *
 * @param options those of `rostrumMiddleware`, of which it uses the logger, the prefix, the public URL and the trusted
 * proxies
 * @throws TypeError for an unknown or invalid option
 */
export function problemResponses(options: RostrumHttpOptions = {}): KoaMiddleware {
  const checked = checkAppOptions(options, 'http');
  return composeSteps([initState(checked, false), handleErrors(checked.logger)]) as KoaMiddleware;
}

/**
 * Returns a listener that serves Rostrum on a plain `node:http` server, or in Connect and Express
 * (`app.use(rostrumListener(rostrum, { prefix: '/forum' }))`). Connect and Express serve the paths outside the
 * prefix; on a plain server they are 404. Put it before any middleware that reads bodies.
 *
 * Below a path, as in `app.use('/forum', …)` and Nest's `forRoutes('forum')`, the prefix can be the path that
 * clients see (`/forum`) or the rest of it (`/`). `Location`, `Link` and `type` are paths as clients see them.
 *
 * @throws TypeError for an unknown or invalid option
 */
export function rostrumListener(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void {
  const checked = checkAppOptions(options, 'http');
  const isOurs = (url: string) => pathBelow(checked.prefix, parseTarget(url).path) !== undefined;
  const handle = createApiApp(rostrum, checked).callback();
  return (request, response, next) => {
    const { url = '' } = request;
    const whole = next === undefined || isOurs(url) ? url : restoreBaseUrl(request);
    if (next !== undefined && !isOurs(whole)) return next();
    request.url = whole;
    void handle(request, response);
  };
}

/** An app that serves the paths below the prefix; every other path is 404. */
export function createApiApp(rostrum: AnyRostrum, options: CheckedOptions): Koa {
  return koaAppFor(apiChain(rostrum, options), options);
}

/** The chain of the API without pages. */
function apiChain(rostrum: AnyRostrum, options: CheckedOptions): KoaMiddleware {
  const { prefix } = options;
  const endpoints = [...endpointsFor(rostrum.declaredFields), ...mcpEndpoints(options)];
  const api = apiRouter(rostrum, prefix, options, limiterFor(options), endpoints);
  return createMiddleware(options, false, [problemsRouter(prefix).routes(), api.routes()]);
}

function limiterFor({ metrics }: CheckedOptions): Limiter {
  const limiter = new Limiter();
  metrics?.limiter?.(() => limiter.state);
  return limiter;
}

/** An app with everything at the root of its site. */
function siteApp(options: CheckedOptions, routers: readonly Middleware[]): Koa {
  return koaAppFor(createMiddleware(options, true, routers), options);
}

function koaAppFor(serve: KoaMiddleware, { logger }: CheckedOptions): Koa {
  const app = new Koa().use(serve);
  reportErrors(app, logger);
  return app;
}

/** Writes all metrics, in the format of its media type. */
export type Exposition = () => Promise<{ readonly type: string; readonly body: string }>;

/**
 * Creates an app that serves `/metrics` and `/livez`, without credentials, for a port of its own.
 *
 * @param isOwnHost returns true for a name of the server; every name is accepted if absent
 */
export function createMetricsApp(
  exposition: Exposition,
  logger: Logger,
  isOwnHost?: (name: string) => boolean,
): Koa {
  const router = createRouter();
  router.get('/livez', setOperation('/livez'), sendOk);
  router.get('/metrics', setOperation('/metrics'), async (ctx) => {
    const { type, body } = await exposition();
    ctx.set({ 'Content-Type': type, 'Cache-Control': 'no-store' });
    ctx.body = body;
  });
  const missing: Middleware = () => {
    throw new Problem('path-not-found', 'No such path. This port serves /metrics and /livez.');
  };
  const options = checkAppOptions({ logger, accessLog: false, isOwnHost }, 'app');
  return siteApp(options, [router.routes()]).use(missing as KoaMiddleware);
}

/** Creates an app that responds with 503, except for `/livez`: for a server whose store is not open yet. */
export function createWaitingApp(
  given: Pick<RostrumHttpOptions, 'logger' | 'publicUrl' | 'cors' | 'metrics'>,
): Koa {
  const router = createRouter();
  router.get('/livez', setOperation('/livez'), sendOk);
  const reject: Middleware = () => {
    throw storeUnavailable('none');
  };
  // With `anonymous: []`, `cors` accepts patterns: this app serves no records.
  const options = checkAppOptions({ ...given, accessLog: false, anonymous: [] }, 'app');
  return siteApp(options, [router.routes(), reject]);
}

let iterationEnd: Promise<void> | undefined;

/**
 * Sends the responses of one iteration of the event loop together. With 64 connections from another network namespace,
 * a POST takes 47 µs of processor time instead of 55.
 */
const batchResponses: Middleware = async (_, next) => {
  await next();
  iterationEnd ??= setImmediate().then(() => {
    iterationEnd = undefined;
  });
  return iterationEnd;
};
