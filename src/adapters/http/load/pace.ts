/** How long a line is watched before its speed is known anew, in milliseconds. */
const sampleMs = 50;

/** How fast requests are served while others stand in line, by what was done lately. */
export class Pace {
  #since = 0;
  #served = 0;
  /** Milliseconds for each, with all that it brings; 0 until it is known. */
  #each = 0;
  /** False for a line that has not been watched for long enough. */
  #isKnown = false;

  /** Somebody joined a line that was empty: how fast it moves is not known yet. */
  start(): void {
    this.#isKnown = false;
    this.#sample();
  }

  /** One more was served. */
  serve(now: number): void {
    this.#served += 1;
    const ms = now - this.#since;
    if (ms < sampleMs) return;
    const each = ms / this.#served;
    this.#each = this.#isKnown ? (this.#each + each) / 2 : each;
    this.#isKnown = true;
    this.#sample();
  }

  /** How long, in milliseconds, so many in line will wait; 0 where that is not known. */
  waitFor(length: number): number {
    return this.#isKnown ? length * this.#each : 0;
  }

  /** How many are served in so many milliseconds, as far as was ever seen. */
  servedIn(ms: number): number {
    return ms / this.#each;
  }

  #sample(): void {
    this.#since = performance.now();
    this.#served = 0;
  }
}
