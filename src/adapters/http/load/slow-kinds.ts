/** Milliseconds. Pages of small records take far less. */
const slowMs = 2;

/** How much the newest time counts: one pause of the process makes no kind slow. */
const weight = 1 / 8;

/**
 * Which kinds of lists take longer than their bytes explain: a filter or an order without an index of
 * its own, records that have to be parsed. Which they are, each store knows alone; so it is seen and
 * not foretold.
 */
export class SlowKinds {
  /** What each takes on average, in milliseconds. */
  readonly #average = new Map<string, number>();

  has(kind: string): boolean {
    return (this.#average.get(kind) ?? 0) > slowMs;
  }

  /** Learns what one took. */
  learn(kind: string, ms: number): void {
    const before = this.#average.get(kind) ?? 0;
    this.#average.set(kind, before + (Math.max(ms, 0) - before) * weight);
  }
}
