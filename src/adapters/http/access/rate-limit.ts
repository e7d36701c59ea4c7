import type { Quota, Step } from '../exchange.ts';
import { Problem } from '../problems/problem.ts';
import { limitedAs } from './client-address.ts';

/** Counts requests by a key, in windows of time. */
export interface RateLimiter {
  /** Counts one more. */
  take(key: string): Promise<Quota>;
  /** Counts nothing. @returns undefined for a key that has no count */
  peek(key: string): Promise<Quota> | undefined;
}

/** Each limit that is there holds. */
export interface RateLimits {
  /** Requests of an address, before its credentials are looked at. */
  readonly address?: RateLimiter | undefined;
  /** Requests of a caller. */
  readonly caller?: RateLimiter | undefined;
  /** Tokens of an address that were refused: past it none is looked at. */
  readonly failures?: RateLimiter | undefined;
}

/** A request, and what it has counted for. */
interface Counted {
  readonly quotas: Quota[];
}

/**
 * Counts a request, and tells its client what is left.
 *
 * @throws Problem `too-many-requests`
 */
function take({ quotas }: Counted, limiter: RateLimiter, key: string): Promise<void> {
  return limiter.take(key).then((quota) => {
    quotas.push(quota);
    checkQuota(quota);
  });
}

/**
 * Looks whether a key has anything left, and counts nothing.
 *
 * @returns undefined for a key without a count, as nearly all have none
 * @throws Problem `too-many-requests`
 */
export function peek(
  { quotas }: Counted,
  limiter: RateLimiter,
  key: string,
): Promise<void> | undefined {
  return limiter.peek(key)?.then((quota) => {
    if (quota.isExceeded) quotas.push(quota);
    checkQuota(quota);
  });
}

/** @throws Problem `too-many-requests` */
function checkQuota({ isExceeded, reset }: Quota): void {
  if (!isExceeded) return;
  const sentence = `There are too many requests; there is room again in ${reset} seconds.`;
  throw new Problem('too-many-requests', sentence, { headers: ['Retry-After', String(reset)] });
}

export function limitAddress({ address }: RateLimits): Step | undefined {
  if (address === undefined) return undefined;
  return ({ state: { exchange } }, next) =>
    take(exchange, address, limitedAs(exchange.address)).then(next);
}

export function limitCaller({ caller: limiter }: RateLimits): Step | undefined {
  if (limiter === undefined) return undefined;
  return ({ state: { exchange } }, next) => {
    const { caller, isAnonymous } = exchange;
    // Of those without credentials each address has its own limit alone.
    return caller === undefined || isAnonymous
      ? next()
      : take(exchange, limiter, caller.name).then(next);
  };
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
export function rateLimitHeaders(quotas: readonly Quota[]): readonly string[] {
  if (quotas.length === 0) return [];
  let [policies, states] = ['', ''];
  for (const { policy, limit, window, remaining, reset } of quotas) {
    const comma = policies === '' ? '' : ', ';
    policies += `${comma}"${policy}";q=${limit};w=${window}`;
    states += `${comma}"${policy}";r=${remaining};t=${reset}`;
  }
  return ['RateLimit-Policy', policies, 'RateLimit', states];
}
