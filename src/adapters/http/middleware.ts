import type { Context, Middleware } from 'koa';
import type { Rostrum } from '../../domain/rostrum.ts';
import { createApi, invalidPath } from './api.ts';
import { withinBoundary } from './boundary.ts';
import { defaultPrefix, type RostrumHttpOptions } from './options.ts';
import {
  below,
  isDecoded,
  joinSegments,
  pathSegments,
  prefixSegments,
  splitTarget,
} from './paths.ts';
import { sendProblemPage } from './problem-page.ts';

/**
 * Rostrum in somebody else's Koa app: answers what lies under the prefix, and leaves all else to
 * the rest of the app. The pages of the kinds of problems lie under the prefix as well.
 *
 * Works below `koa-mount` and the like, too: `Location`, `Link` and `type` are paths as the client
 * sees them. It has to come before any middleware that reads bodies.
 */
export function rostrumMiddleware(rostrum: Rostrum, options: RostrumHttpOptions = {}): Middleware {
  const { prefix = defaultPrefix, logger, accessLog = true } = options;
  const { requireIfMatch = false, caller = () => '' } = options;
  const under = prefixSegments(prefix);
  const api = createApi(rostrum, { requireIfMatch, caller });

  return async (ctx, next) => {
    const rest = below(under, pathSegments(splitTarget(ctx.url).path));
    if (rest === undefined) return next();
    const base = `${mountPath(ctx)}${joinSegments(under)}`;
    const problems = `${base}/problems`;
    return withinBoundary(ctx, problems, { logger, accessLog }, async () => {
      if (rest[0] !== 'problems') return api(ctx, { base, rest });
      if (!isDecoded(rest)) throw invalidPath();
      sendProblemPage(ctx, rest.slice(1), problems);
    });
  };
}

/**
 * What stands in front of the path that this app sees: a mount took it off and left the whole in
 * `originalUrl`, Koa's own or that of Connect and Express.
 */
function mountPath(ctx: Context): string {
  const outer = (ctx.req as { originalUrl?: unknown }).originalUrl;
  const { path: whole } = splitTarget(typeof outer === 'string' ? outer : ctx.originalUrl);
  const { path } = splitTarget(ctx.url);
  const front = whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : '';
  const segments = pathSegments(front);
  return front !== '' && isDecoded(segments) ? joinSegments(segments) : '';
}
