import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa, { type Middleware } from 'koa';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import { createApi } from './api.ts';
import { createBoundary, handleAppErrors } from './boundary.ts';
import { exchangeOf } from './exchange.ts';
import { Room } from './load/room.ts';
import type { RostrumAppOptions, RostrumHttpOptions } from './options.ts';
import { problemPage } from './pages/problem.ts';
import { unserved } from './problems/problem.ts';
import { cutPrefixLog, isCut, uncut } from './request/cut-prefix.ts';
import { below, mountPath, parseTarget, prefixPath, publicBase } from './request/target.ts';
import { respond } from './response.ts';

/**
 * Rostrum in another Koa app: serves what lies under the prefix, and leaves all else to
 * the rest of the app. The pages of the problems lie under the prefix as well.
 *
 * Works below `koa-mount` and the like, too: `Location`, `Link` and `type` are paths as the client
 * sees them. It has to come before any middleware that reads bodies.
 *
 * @throws TypeError for a prefix that no path begins with
 */
export function rostrumMiddleware(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions = {},
): Middleware {
  return apiMiddleware(rostrum, options, new Room(), createBoundary(options));
}

/** The same, in a room and a boundary that it shares with what else an app serves. */
export function apiMiddleware(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions,
  room: Room,
  boundary: Middleware,
): Middleware {
  options.metrics?.room?.(() => room.state);
  const { prefix = '/api/v1', logger } = options;
  const front = prefixPath(prefix);
  const logCut = cutPrefixLog(front, logger);
  const publicUrl = publicBase(options.publicUrl);
  const api = createApi(rostrum, front, options, room);

  return (ctx, next) => {
    const known = exchangeOf(ctx);
    // An app that is mounted below has another part of the target.
    const target = known?.url === ctx.url ? known.target : parseTarget(ctx.url);
    const rest = below(front, target.path);
    if (rest === undefined) {
      if (isCut(ctx)) logCut(ctx.url);
      return next();
    }
    const base = () => {
      const { originalUrl = ctx.originalUrl } = ctx.req as { readonly originalUrl?: string };
      return (publicUrl ?? mountPath(ctx.url, originalUrl)) + front;
    };
    if (known !== undefined) {
      known.base = base();
      return api(ctx, target);
    }
    return boundary(ctx, async () => {
      const { exchange } = ctx.state;
      exchange.base = base();
      exchange.problems = `${exchange.base}/problems`;
      const page = below('/problems', rest);
      if (page === undefined) return api(ctx, target);
      exchange.endpoint = '/problems';
      return respond(ctx, problemPage(ctx, exchange, page.slice(1)));
    });
  };
}

/** What Connect and Express call for what is not theirs. */
type NextListener = (error?: unknown) => void;

/**
 * Rostrum as a listener for a plain `node:http` server, or for Connect and Express
 * (`app.use(rostrumListener(rostrum, { prefix: '/forum' }))`). What does not lie under the prefix goes
 * on to the rest of such an app, and is 404 where there is none. It has to come before any middleware
 * that reads bodies.
 *
 * Behind a path, as in `app.use('/forum', …)` and Nest's `forRoutes('forum')`, the prefix may be the path
 * that clients see (`/forum`), which Express tells, or what is left of it there (`/`). `Location`, `Link`
 * and `type` are paths as the client sees them.
 *
 * @throws TypeError for an option that cannot be used
 */
export function rostrumListener(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse, next?: NextListener) => void {
  const front = prefixPath(options.prefix ?? '/api/v1');
  const logCut = cutPrefixLog(front, options.logger);
  const isOurs = (url: string) => below(front, parseTarget(url).path) !== undefined;
  const handle = standalone(rostrum, options).callback();
  return (request, response, next) => {
    const { url = '' } = request;
    const isDirect = next === undefined || isOurs(url);
    const whole = isDirect ? url : uncut(request);
    if (isDirect || isOurs(whole)) {
      request.url = whole;
      void handle(request, response);
      return;
    }
    if (isCut(request)) logCut(url);
    next();
  };
}

/** Rostrum alone: what does not lie under the prefix is 404. */
export function standalone(
  rostrum: AnyRostrum,
  options: RostrumHttpOptions & Pick<RostrumAppOptions, 'isOwnHost'>,
): Koa {
  const front = prefixPath(options.prefix ?? '/api/v1');
  const logCut = cutPrefixLog(front, options.logger);
  const app = new Koa();
  handleAppErrors(app, options.logger);
  const boundary = createBoundary(options);
  app.use(apiMiddleware(rostrum, options, new Room(), boundary));
  app.use(boundary);
  app.use(({ url, state: { exchange } }) => {
    logCut(url);
    exchange.problems = `${front}/problems`;
    throw unserved(exchange.target);
  });
  return app;
}
