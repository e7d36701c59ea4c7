import { hash } from 'node:crypto';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Quota, RateLimiter } from './rate-limit.ts';

const defaultMaxKeys = 50_000;

/** Longer keys are replaced by their digest, so that clients can't exhaust the memory. */
const maxKeyLength = 64;

export interface Policy {
  readonly name: string;
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  /** The maximum number of keys. One more evicts the least recently used key. */
  readonly maxKeys?: number | undefined;
}

/** Counts in this process. A key's window starts with its first request. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #policy: Policy;
  readonly #limiter: RateLimiterMemory;
  /** In the order of their last use. */
  readonly #keys = new Set<string>();

  constructor(policy: Policy) {
    this.#policy = policy;
    this.#limiter = new RateLimiterMemory({ points: policy.limit, duration: policy.window });
  }

  async take(text: string): Promise<Quota> {
    const key = keyOf(text);
    this.#use(key);
    // Unlike `consume`, it does not reject for an exhausted key.
    return this.#quota(await this.#limiter.penalty(key));
  }

  peek(text: string): Promise<Quota> | undefined {
    const key = keyOf(text);
    return this.#keys.has(key) ? this.#peek(key) : undefined;
  }

  async #peek(key: string): Promise<Quota> {
    const quota = this.#quota(await this.#limiter.get(key));
    // This call counts nothing. If nothing is left, the next request would exceed the limit.
    return quota.remaining > 0 ? quota : { ...quota, isExceeded: true };
  }

  #use(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= (this.#policy.maxKeys ?? defaultMaxKeys)) return;
    const [oldest = ''] = this.#keys;
    this.#keys.delete(oldest);
    void this.#limiter.delete(oldest); // Synchronous, and cannot fail.
  }

  #quota(state: RateLimiterRes | null): Quota {
    const { name, limit, window } = this.#policy;
    const used = state?.consumedPoints ?? 0;
    return {
      policy: name,
      limit,
      window,
      remaining: Math.max(limit - used, 0),
      reset: Math.max(Math.ceil((state?.msBeforeNext ?? window * 1000) / 1000), 1),
      isExceeded: used > limit,
    };
  }
}

function keyOf(text: string): string {
  return text.length <= maxKeyLength ? text : hash('sha256', text, 'base64');
}
