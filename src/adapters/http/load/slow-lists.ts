/** Milliseconds. Pages of small records take far less. */
const slowMs = 2;

/** How much the newest time counts: one pause of the process makes no list slow. */
const weight = 1 / 8;

/**
 * Which shapes of lists take longer than their bytes explain: a filter or an order without an index of
 * its own, records that have to be parsed. Which they are, each store knows alone; so it is seen and
 * not foretold.
 */
export class SlowLists {
  /** What each takes on average, in milliseconds. */
  readonly #average = new Map<string, number>();

  has(shape: string): boolean {
    return (this.#average.get(shape) ?? 0) > slowMs;
  }

  /** Learns what one took. */
  learn(shape: string, ms: number): void {
    const before = this.#average.get(shape) ?? 0;
    this.#average.set(shape, before + (Math.max(ms, 0) - before) * weight);
  }
}
