import type { Context } from './context.ts';

/** The headers of every response. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
}

/** Responds with JSON. It ends in a line feed, so that a terminal shows its prompt on a line of its own. */
export function sendJson(ctx: Context, value: object, cacheControl?: 'no-store'): void {
  sendJsonText(ctx, 200, JSON.stringify(value));
  if (cacheControl !== undefined) ctx.set('Cache-Control', cacheControl);
}

/**
 * Responds with JSON text, or without a body.
 *
 * A cache may keep the response, and has to revalidate it each time (RFC 9111, section 5.2.2.4). The response to a
 * request with credentials is for this client alone.
 */
export function sendJsonText(ctx: Context, status: number, json: string | null): void {
  ctx.set('Cache-Control', ctx.state.rostrum.namedCaller ? 'private, no-cache' : 'no-cache');
  if (json === null)
    ctx.remove('Content-Type'); // With the type JSON, Koa would send `null`.
  else ctx.set('Content-Type', 'application/json');
  ctx.body = json === null ? null : `${json}\n`;
  ctx.status = status; // Last, because a body sets it, too.
}
