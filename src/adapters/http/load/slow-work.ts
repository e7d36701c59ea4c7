/** Milliseconds. Usual pages and changes take far less. */
const slowMs = 2;

/** How much the newest time counts: one pause of the process makes nothing slow. */
const weight = 1 / 8;

/** What takes less than this on average, in milliseconds, need not be remembered. */
const forgottenMs = slowMs * weight;

/** How many are remembered at most: those that were slow lately. */
const most = 1000;

/**
 * Which work takes longer than it looks: lists by a filter or an order without an index of its own or
 * of records that have to be parsed, changes of large records. Which they are, each store knows alone;
 * so it is seen and not foretold.
 */
export class SlowWork {
  /** What takes how long on average, in milliseconds; what was slow last is the last. */
  readonly #average = new Map<string, number>();

  /** How long it takes, in milliseconds; undefined for what is quick. */
  msOf(what: string): number | undefined {
    const average = this.#average.get(what) ?? 0;
    return average > slowMs ? average : undefined;
  }

  /** Learns how long something took. */
  learn(what: string, ms: number): void {
    const before = this.#average.get(what) ?? 0;
    const average = before + (Math.max(ms, 0) - before) * weight;
    if (before > 0) this.#average.delete(what);
    if (average < forgottenMs) return;
    this.#average.set(what, average);
    const [oldest] = this.#average.keys();
    if (this.#average.size > most && oldest !== undefined) this.#average.delete(oldest);
  }
}
