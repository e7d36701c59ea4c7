import { type Context, type Middleware, namedCaller } from '../context.ts';
import { Problem } from '../problems/problem.ts';

/** What a client has left in the current window. */
export interface Quota {
  /** The name of the policy. */
  readonly policy: string;
  /** Requests per window. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly reset: number;
  readonly isExceeded: boolean;
}

/** Counts requests per key, in time windows. */
export interface RateLimiter {
  /** Counts one request. */
  take(key: string): Promise<Quota>;
  /** Counts nothing. Returns undefined for a key that has no count. */
  peek(key: string): Promise<Quota> | undefined;
}

/** All limits that are set apply. */
export interface RateLimits {
  /** Requests per address, counted before credentials are checked. */
  readonly address?: RateLimiter | undefined;
  /** Requests per caller. */
  readonly caller?: RateLimiter | undefined;
  /** Rejected tokens per address. Past the limit, tokens are no longer checked. */
  readonly failures?: RateLimiter | undefined;
}

/**
 * Returns the key by which an address is limited. An IPv6 client has at least a /64 of addresses, which count
 * as one.
 */
export function rateLimitKey(address: string): string {
  return address.includes(':') ? network(address) : address;
}

/** The /64 of an IPv6 address in the form that client-address.ts returns. */
function network(address: string): string {
  const halves = address.split('::').map((half) => half.split(':').filter(Boolean));
  const [front = [], back = []] = halves;
  const between = Array<string>(8 - front.length - back.length).fill('0');
  return `${[...front, ...between, ...back].slice(0, 4).join(':')}::/64`;
}

/**
 * Counts a request and sends the remaining quota in headers.
 *
 * @throws Problem `too-many-requests`
 */
async function take(ctx: Context, limiter: RateLimiter, key: string): Promise<void> {
  const quota = await limiter.take(key);
  setHeaders(ctx, quota);
  checkQuota(quota);
}

/**
 * Checks whether a key has anything left, and counts nothing. Returns undefined for a key without a count,
 * which is the usual case.
 *
 * @throws Problem `too-many-requests`
 */
export function checkNotExceeded(
  ctx: Context,
  limiter: RateLimiter,
  key: string,
): Promise<void> | undefined {
  return limiter.peek(key)?.then((quota) => {
    if (quota.isExceeded) setHeaders(ctx, quota);
    checkQuota(quota);
  });
}

/** @throws Problem `too-many-requests` */
function checkQuota({ isExceeded, reset }: Quota): void {
  if (!isExceeded) return;
  const sentence = `Too many requests. Try again in ${reset} ${reset === 1 ? 'second' : 'seconds'}.`;
  const headers = { 'Retry-After': String(reset) };
  throw new Problem('too-many-requests', sentence, { headers });
}

/** Appends to `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
function setHeaders(ctx: Context, { policy, limit, window, remaining, reset }: Quota): void {
  ctx.append('RateLimit-Policy', `"${policy}";q=${limit};w=${window}`);
  ctx.append('RateLimit', `"${policy}";r=${remaining};t=${reset}`);
}

export function limitAddress({ address }: RateLimits = {}): Middleware | undefined {
  if (address === undefined) return undefined;
  return (ctx, next) => take(ctx, address, rateLimitKey(ctx.state.rostrum.address)).then(next);
}

export function limitCaller({ caller: limiter }: RateLimits = {}): Middleware | undefined {
  if (limiter === undefined) return undefined;
  return (ctx, next) => {
    const caller = namedCaller(ctx);
    // Requests without credentials only count for their address.
    return caller === undefined ? next() : take(ctx, limiter, caller.name).then(next);
  };
}
