import { overloadedRetryAfter } from './catalogue.ts';

/** About how many rejected clients are told to come back in the same second. */
const retriesPerSecond = 100;

/**
 * Chooses when rejected clients come back: the more there are, the later, because each retry takes time, too. After
 * the longest time, it starts again with the shortest.
 */
export class RetryTimes {
  /** When the client that was rejected last comes back, in seconds. */
  #last = 0;

  /**
   * Returns the `Retry-After` of the next client.
   *
   * @param now in seconds, on any clock that never goes back
   */
  next(now: number): number {
    const earliest = now + overloadedRetryAfter.min;
    const time = Math.max(this.#last + 1 / retriesPerSecond, earliest);
    this.#last = time > now + overloadedRetryAfter.max ? earliest : time;
    return Math.round(this.#last - now);
  }
}
