import type { Context } from './context.ts';

/** The headers of every response. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
}

/** Responds without a body. */
export function sendEmpty(ctx: Context, status: number): void {
  ctx.body = null; // Sets the status to 204.
  ctx.status = status;
  setCacheControl(ctx);
}

/** Responds with JSON. It ends in a line feed, so that a terminal shows its prompt on a line of its own. */
export function sendJson(ctx: Context, status: number, body: string | Buffer): void {
  ctx.status = status;
  setCacheControl(ctx);
  ctx.set('Content-Type', 'application/json');
  ctx.body = body;
}

/**
 * A cache may keep the response, and has to revalidate it each time (RFC 9111, section 5.2.2.4). The response to a
 * request with credentials is for this client alone.
 */
function setCacheControl(ctx: Context): void {
  const { caller, isAnonymous } = ctx.state.rostrum;
  const isPrivate = caller !== undefined && !isAnonymous;
  ctx.set('Cache-Control', isPrivate ? 'private, no-cache' : 'no-cache');
}
