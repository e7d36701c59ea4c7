import { checkOptions } from '../../../domain/options.ts';
import { rateLimitKey } from '../client-address.ts';
import type { Context, Middleware } from '../context.ts';
import { Problem } from '../problems/problem.ts';

/** The count of a key in its window. */
export interface RateLimiterCount {
  readonly consumedPoints: number;
  readonly msBeforeNext: number;
}

/**
 * A limiter of the package `rate-limiter-flexible`: `RateLimiterMemory` counts in this process, others in a database
 * that several processes share.
 */
export interface RateLimiter {
  /** Requests per window. */
  readonly points: number;
  /** The length of a window, in seconds. It begins with the first request of a key. */
  readonly duration: number;
  /** Counts one request. Unlike `consume`, it does not reject for an exhausted key. */
  penalty(key: string): Promise<RateLimiterCount>;
  get(key: string): Promise<RateLimiterCount | null>;
}

/** All limits that are set apply. The names are those in the headers. */
export interface RateLimits {
  /** Requests per address, counted before credentials are checked. */
  readonly address?: RateLimiter | undefined;
  /** Requests per caller. */
  readonly caller?: RateLimiter | undefined;
  /** Rejected tokens per address. Past the limit, tokens are no longer checked. */
  readonly failures?: RateLimiter | undefined;
}

/** @throws TypeError for an unknown limit, or one that is not a limiter */
export function checkRateLimits(limits: RateLimits): void {
  checkOptions(limits, ['address', 'caller', 'failures'], 'rateLimits');
  for (const [name, limiter] of Object.entries(limits)) {
    const { points, duration, penalty, get }: Partial<RateLimiter> = Object(limiter);
    const types = [points, duration, penalty, get].map((member) => typeof member);
    if (limiter === undefined || types.join() === 'number,number,function,function') continue;
    throw new TypeError(`rateLimits.${name} must be a limiter of rate-limiter-flexible.`);
  }
}

/**
 * Counts a request.
 *
 * @throws Problem `too-many-requests`
 */
async function countRequest(ctx: Context, policy: string, limiter: RateLimiter, key: string) {
  const count = await limiter.penalty(key);
  reportOrReject(ctx, policy, limiter, count, count.consumedPoints > limiter.points);
}

/**
 * Checks that an address is allowed to send tokens, and counts nothing.
 *
 * @throws Problem `too-many-requests`
 */
export async function checkFailures(ctx: Context, limiter: RateLimiter, key: string) {
  const count = await limiter.get(key);
  if (count === null || count.consumedPoints < limiter.points) return;
  reportOrReject(ctx, 'failures', limiter, count, true);
}

/** Returns the seconds until the window ends, at least 1. */
export function secondsUntilReset({ msBeforeNext }: RateLimiterCount): number {
  return Math.max(Math.ceil(msBeforeNext / 1000), 1);
}

/** Appends to `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), and rejects the request. */
function reportOrReject(
  ctx: Context,
  policy: string,
  { points, duration }: RateLimiter,
  count: RateLimiterCount,
  isRejected: boolean,
): void {
  const reset = secondsUntilReset(count);
  const remaining = Math.max(points - count.consumedPoints, 0);
  ctx.append('RateLimit-Policy', `"${policy}";q=${points};w=${duration}`);
  ctx.append('RateLimit', `"${policy}";r=${remaining};t=${reset}`);
  if (!isRejected) return;
  const sentence = `Too many requests. Try again in ${reset} ${reset === 1 ? 'second' : 'seconds'}.`;
  throw new Problem('too-many-requests', sentence, { headers: { 'Retry-After': String(reset) } });
}

export function limitAddress({ address }: RateLimits = {}): Middleware | undefined {
  if (address === undefined) return undefined;
  return (ctx, next) =>
    countRequest(ctx, 'address', address, rateLimitKey(ctx.state.rostrum.address)).then(next);
}

export function limitCaller({ caller: limiter }: RateLimits = {}): Middleware | undefined {
  if (limiter === undefined) return undefined;
  return (ctx, next) => {
    const caller = ctx.state.rostrum.authenticatedCaller;
    // Requests without credentials only count for their address.
    return caller === undefined
      ? next()
      : countRequest(ctx, 'caller', limiter, caller.name).then(next);
  };
}
