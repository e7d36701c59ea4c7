import { type Context, namedCaller } from './context.ts';

/** The headers of every response. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
}

/** Responds without a body. */
export function sendEmpty(ctx: Context, status: number): void {
  ctx.body = null; // Sets the status to 204.
  ctx.status = status;
  ctx.set('Cache-Control', cacheControlOf(ctx));
}

/** Responds with JSON. It ends in a line feed, so that a terminal shows its prompt on a line of its own. */
export function sendJson(ctx: Context, value: object, cacheControl?: 'no-store'): void {
  sendJsonText(ctx, 200, `${JSON.stringify(value)}\n`);
  if (cacheControl !== undefined) ctx.set('Cache-Control', cacheControl);
}

export function sendJsonText(ctx: Context, status: number, body: string): void {
  ctx.status = status;
  ctx.set('Cache-Control', cacheControlOf(ctx));
  ctx.set('Content-Type', 'application/json');
  ctx.body = body;
}

/**
 * A cache may keep the response, and has to revalidate it each time (RFC 9111, section 5.2.2.4). The response to a
 * request with credentials is for this client alone.
 */
function cacheControlOf(ctx: Context): string {
  return namedCaller(ctx) ? 'private, no-cache' : 'no-cache';
}
