/** Milliseconds. Usual pages and changes take far less. */
const slowMs = 2;

/** How much the newest time counts. */
const weight = 1 / 8;

/** What takes less than this on average, in milliseconds, need not be remembered. */
const forgottenMs = slowMs * weight;

const unknown = { average: 0, last: 0 };

/** How many are remembered at most: those that were slow lately. */
const most = 1000;

/**
 * Which work takes longer than it looks: lists by a filter or an order without an index of its own or
 * of records that have to be parsed, changes of large records. Which they are, each store knows alone;
 * so it is seen and not foretold.
 */
export class SlowWork {
  /** What takes how long, in milliseconds, on average and last; what was done last is the last. */
  readonly #known = new Map<string, { readonly average: number; readonly last: number }>();
  readonly #mostMs: number;

  /** @param mayPause whether a few quick times undo a slow one: it may have been a pause of the process */
  constructor(mayPause: boolean) {
    this.#mostMs = mayPause ? (2 * slowMs) / weight : Infinity;
  }

  /** How long it takes, in milliseconds; undefined for what is quick. */
  msOf(what: string): number | undefined {
    const { average, last } = this.#known.get(what) ?? unknown;
    return average > slowMs ? Math.max(average, last) : undefined;
  }

  /** Learns how long something took. */
  learn(what: string, ms: number): void {
    const last = Math.max(ms, 0);
    const { average: before } = this.#known.get(what) ?? unknown;
    const average = before + (Math.min(last, this.#mostMs) - before) * weight;
    if (before > 0) this.#known.delete(what);
    if (average < forgottenMs) return;
    this.#known.set(what, { average, last });
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
  }
}
