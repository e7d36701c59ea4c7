/** How long a line is watched before its speed is known anew, in milliseconds. */
const sampleMs = 50;

/** How fast a line moves, by what it did lately. */
export class Pace {
  #since = 0;
  #served = 0;
  /** Milliseconds for each; 0 until it is known. */
  #each = 0;

  /** Somebody joined a line that was empty: what was known of it is past. */
  start(): void {
    this.#each = 0;
    this.#sample();
  }

  /** The first in line was served. */
  serve(): void {
    this.#served += 1;
    const ms = performance.now() - this.#since;
    if (ms < sampleMs) return;
    const each = ms / this.#served;
    this.#each = this.#each === 0 ? each : (this.#each + each) / 2;
    this.#sample();
  }

  /** How long, in milliseconds, so many in line will wait. */
  waitFor(length: number): number {
    return length * this.#each;
  }

  #sample(): void {
    this.#since = performance.now();
    this.#served = 0;
  }
}
