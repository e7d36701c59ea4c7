/**
 * How many turns are left to others after long work. Node accepts one connection a turn, so that new
 * clients would wait for as many pieces of long work as there are clients before them.
 */
const defaultTurnsBetween = 32;

/**
 * Spreads long work over turns of the event loop: many who ask for it at once must not keep those
 * waiting who ask for little.
 */
export class Turns {
  readonly #costAtOnce: number;
  readonly #turnsBetween: number;
  readonly #waiting: { readonly cost: number; readonly begin: () => void }[] = [];
  #left: number;
  #isScheduled = false;

  /** @param costAtOnce in the measure of {@link take} */
  constructor(costAtOnce: number, turnsBetween = defaultTurnsBetween) {
    this.#costAtOnce = costAtOnce;
    this.#turnsBetween = turnsBetween;
    this.#left = costAtOnce;
  }

  /** Fulfilled at once until so much work has begun, then after other turns, in the order of the calls. */
  async take(cost: number): Promise<void> {
    if (this.#left > 0) this.#begin(cost);
    else await new Promise<void>((begin) => this.#waiting.push({ cost, begin }));
  }

  /** Says that work took more than it was thought to: others wait the longer. */
  spend(cost: number): void {
    if (cost > 0) this.#begin(cost);
  }

  #begin(cost: number): void {
    this.#left -= cost;
    if (this.#left > 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(this.#turnsBetween);
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
      this.#begin(next.cost);
      next.begin();
    }
  }
}
