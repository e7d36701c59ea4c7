/**
 * How many turns are left to others after long work. Node accepts one connection a turn, so that new
 * clients would wait for as many pieces of long work as there are clients before them.
 */
const defaultTurnsBetween = 32;

/**
 * A queue that spreads long work over turns of the event loop: many who ask for it at once must not
 * keep those waiting who ask for little.
 */
export class WorkQueue {
  readonly #costAtOnce: number;
  readonly #turnsBetween: number;
  readonly #waiting: { readonly cost: number | undefined; begin(reckoned: number): void }[] = [];
  #left: number;
  /** What work of an unknown cost took lately. */
  #expected = 0;
  #isScheduled = false;

  /** @param costAtOnce in the measure of {@link take} */
  constructor(costAtOnce: number, turnsBetween = defaultTurnsBetween) {
    this.#costAtOnce = costAtOnce;
    this.#turnsBetween = turnsBetween;
    this.#left = costAtOnce;
  }

  /**
   * Begins work at once, where so much has not yet begun in this turn.
   *
   * @param cost when it is not known, what such work took lately: else all that waits would begin at
   *   once
   * @returns the cost that it is reckoned with, for {@link settle}; undefined where it has to wait
   */
  tryTake(cost?: number): number | undefined {
    return this.#left > 0 && this.#waiting.length === 0 ? this.#begin(cost) : undefined;
  }

  /** The same, after other turns where it has to wait, in the order of the calls. */
  async take(cost?: number): Promise<number> {
    const reckoned = this.tryTake(cost);
    if (reckoned !== undefined) return reckoned;
    return new Promise((begin) => this.#waiting.push({ cost, begin }));
  }

  /** Says what work of an unknown cost took, so that others wait the longer or the shorter. */
  settle(reckoned: number, cost: number): void {
    this.#expected = Math.max(cost, this.#expected / 2);
    this.spend(cost - reckoned);
  }

  /** Says that work took more than it was reckoned with, or less where it is negative. */
  spend(cost: number): void {
    this.#left = Math.min(this.#left - cost, this.#costAtOnce);
    if (this.#left > 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    const times = Math.max(1, Math.ceil(-this.#left / this.#costAtOnce));
    this.#schedule(this.#turnsBetween * times);
  }

  #begin(cost = this.#expected): number {
    this.spend(cost);
    return cost;
  }

  #schedule(turns: number): void {
    setImmediate(() => (turns > 1 ? this.#schedule(turns - 1) : this.#goOn()));
  }

  #goOn(): void {
    this.#isScheduled = false;
    this.#left = this.#costAtOnce;
    while (this.#left > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next.begin(this.#begin(next.cost));
    }
  }
}
