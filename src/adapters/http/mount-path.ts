import type { Context } from 'koa';
import { isDecoded, joinSegments, pathSegments, splitTarget } from './paths.ts';

/**
 * What stands in front of the path that this app sees: a mount took it off and left the whole in
 * `originalUrl`, Koa's own or that of Connect and Express.
 */
export function mountPath(ctx: Context): string {
  const outer = (ctx.req as { originalUrl?: unknown }).originalUrl;
  const { path: whole } = splitTarget(typeof outer === 'string' ? outer : ctx.originalUrl);
  const { path } = splitTarget(ctx.url);
  const front = whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : '';
  const segments = pathSegments(front);
  return front !== '' && isDecoded(segments) ? joinSegments(segments) : '';
}
