import type { Middleware } from 'koa';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import { createApi, invalidPath } from './api.ts';
import { withinBoundary } from './boundary.ts';
import { mountPath } from './mount-path.ts';
import { type RostrumHttpOptions, resolveOptions } from './options.ts';
import { below, isDecoded, joinSegments, pathSegments, splitTarget } from './paths.ts';
import { sendProblemPage } from './problem-page.ts';

/**
 * Rostrum in somebody else's Koa app: answers what lies under the prefix, and leaves all else to
 * the rest of the app. The pages of the kinds of problems lie under the prefix as well.
 *
 * Works below `koa-mount` and the like, too: `Location`, `Link` and `type` are paths as the client
 * sees them. It has to come before any middleware that reads bodies.
 */
export function rostrumMiddleware(rostrum: Rostrum, options: RostrumHttpOptions = {}): Middleware {
  const resolved = resolveOptions(options);
  const { under } = resolved;
  const api = createApi(rostrum, resolved);

  return async (ctx, next) => {
    const rest = below(under, pathSegments(splitTarget(ctx.url).path));
    if (rest === undefined) return next();
    const base = `${mountPath(ctx)}${joinSegments(under)}`;
    const problems = `${base}/problems`;
    return withinBoundary(ctx, problems, resolved, async () => {
      if (rest[0] !== 'problems') return api(ctx, { base, rest });
      if (!isDecoded(rest)) throw invalidPath();
      sendProblemPage(ctx, rest.slice(1), problems);
    });
  };
}
