import { isOrigin } from '../../../domain/hosts.ts';
import type { Step } from '../context.ts';

/** The response headers that scripts of other origins can read. */
const exposed =
  'ETag, Location, Link, X-Total-Count, X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, ' +
  'Idempotency-Replayed, Preference-Applied, WWW-Authenticate, Allow, Accept-Post, Accept-Patch';

/** The request headers that scripts of other origins can send. */
const accepted =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, ' +
  'traceparent, tracestate, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

/** How long a browser can cache the response to a preflight, in seconds. */
const maxAge = '600';

/**
 * Lets scripts of these origins read responses (the Fetch standard, CORS protocol). There are no
 * cookies, so `Access-Control-Allow-Credentials` is never sent.
 *
 * @throws TypeError for a string that is not an origin
 */
export function cors(origins: readonly string[] = []): Step | undefined {
  for (const origin of origins) {
    if (!isOrigin(origin)) {
      throw new TypeError(`"${origin}" is not an origin such as https://app.example.com.`);
    }
  }
  if (origins.length === 0) return undefined;
  return (ctx, next) => {
    const { origin = '' } = ctx.headers;
    ctx.vary('Origin');
    if (origins.includes(origin)) {
      ctx.set('Access-Control-Allow-Origin', origin);
      ctx.set('Access-Control-Expose-Headers', exposed);
    }
    return next();
  };
}

/**
 * Responds to preflights before credentials are checked, because a preflight has none. If a rate limit rejected
 * it, no script would see the 429.
 */
export function preflight(origins: readonly string[] = [], allow: string): Step | undefined {
  if (origins.length === 0) return undefined;
  return (ctx, next) => {
    const { origin, 'access-control-request-method': method } = ctx.headers;
    if (origin === undefined || method === undefined) return next();
    ctx.status = 204;
    ctx.set('Allow', allow);
    if (origins.includes(origin)) {
      ctx.set({
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': accepted,
        'Access-Control-Max-Age': maxAge,
      });
    }
    return undefined;
  };
}
