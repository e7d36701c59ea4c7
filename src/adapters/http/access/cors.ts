import { unsafeOrigin } from '../../../domain/access/access.ts';
import type { Scope } from '../../../domain/access/caller.ts';
import { isOriginPattern, matchesOrigin } from '../../../domain/access/hosts.ts';
import type { Context, Middleware } from '../context.ts';

/** The response headers that scripts of other origins can read. */
const exposedHeaders =
  'ETag, Location, Link, X-Total-Count, X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, ' +
  'Idempotency-Replayed, Preference-Applied, WWW-Authenticate, Allow, Accept, Accept-Post, Accept-Patch';

/** How long a browser can cache the response to a preflight, in seconds. */
const maxAge = '600';

interface CorsOptions {
  readonly cors?: readonly string[] | undefined;
  readonly anonymous?: readonly Scope[] | undefined;
  readonly authenticate?: unknown;
}

/**
 * Checks the origins whose scripts can read responses.
 *
 * @throws TypeError
 */
export function checkCors({ cors = [], anonymous, authenticate }: CorsOptions): void {
  const wrong = cors.find((origin) => !isOriginPattern(origin));
  if (wrong !== undefined) {
    throw new TypeError(`"${wrong}" is not an origin such as https://app.example.com.`);
  }
  const unsafe = unsafeOrigin(cors, anonymous, authenticate !== undefined);
  if (unsafe === undefined) return;
  throw new TypeError(
    `"${unsafe}" in "cors" would let any web page do what requests without credentials can do. List exact origins, or allow only posts:read and users:read:public without credentials.`,
  );
}

/**
 * Lets scripts of these origins read every response (the Fetch standard, CORS protocol). Rostrum sets no cookies, so
 * `Access-Control-Allow-Credentials` is never sent.
 */
export function cors(patterns: readonly string[] = []): Middleware | undefined {
  if (patterns.length === 0) return undefined;
  return (ctx, next) => {
    ctx.vary('Origin');
    const { origin = '' } = ctx.headers;
    if (patterns.some((pattern) => matchesOrigin(origin, pattern))) {
      ctx.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders,
      });
    }
    return next();
  };
}

/**
 * Completes the response to a preflight of an allowed origin. It allows every request header: none of them gives an
 * origin rights.
 */
export function allowPreflight(ctx: Context, methods: string): void {
  if (!ctx.res.hasHeader('Access-Control-Allow-Origin')) return;
  if (ctx.headers['access-control-request-method'] === undefined) return;
  ctx.vary('Access-Control-Request-Headers');
  ctx.set({
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': ctx.get('Access-Control-Request-Headers'),
    'Access-Control-Max-Age': maxAge,
  });
}
