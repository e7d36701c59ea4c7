/** For how long, in milliseconds, requests are counted before the pace is known anew. */
const sampleMs = 50;

/** How fast a busy server serves, by what it did lately. */
export class Pace {
  #since = 0;
  #served = 0;
  /** Milliseconds for each, with all that it brings; undefined until it is known. */
  #each: number | undefined;

  /** A busy time begins: what was known of an earlier one is past. */
  start(now: number): void {
    this.#each = undefined;
    this.#sample(now);
  }

  /** One more was served. */
  serve(now: number): void {
    this.#served += 1;
    const ms = now - this.#since;
    if (ms < sampleMs) return;
    const each = ms / this.#served;
    this.#each = this.#each === undefined ? each : (this.#each + each) / 2;
    this.#sample(now);
  }

  /** How long, in milliseconds, so many will wait; 0 until it is known. */
  waitFor(count: number): number {
    return count * (this.#each ?? 0);
  }

  /** How many are served in so many milliseconds; Infinity until it is known. */
  servedIn(ms: number): number {
    return this.#each === undefined ? Number.POSITIVE_INFINITY : ms / this.#each;
  }

  #sample(now: number): void {
    this.#since = now;
    this.#served = 0;
  }
}
