/**
 * How many turns there are for each that does long work. Node accepts one connection a turn, so that
 * new clients would wait for as many pieces of long work as there are clients before them.
 */
const defaultTurnsForEach = 32;

/**
 * Spreads long work over turns of the event loop: many who ask for it at once must not keep those
 * waiting who ask for little.
 */
export class Turns {
  readonly #costPerTurn: number;
  readonly #turnsForEach: number;
  readonly #waiting: { readonly cost: number; readonly begin: () => void }[] = [];
  #left: number;
  #isScheduled = false;

  /** @param costPerTurn in the measure of {@link take} */
  constructor(costPerTurn: number, turnsForEach = defaultTurnsForEach) {
    this.#costPerTurn = costPerTurn;
    this.#turnsForEach = turnsForEach;
    this.#left = costPerTurn;
  }

  /** Fulfilled in a turn that has not begun too much work yet, in the order of the calls. */
  async take(cost: number): Promise<void> {
    if (this.#left > 0) this.#begin(cost);
    else await new Promise<void>((begin) => this.#waiting.push({ cost, begin }));
  }

  /** Says that work took more than it was thought to: others wait for the next turn. */
  spend(cost: number): void {
    if (cost > 0) this.#begin(cost);
  }

  #begin(cost: number): void {
    this.#left -= cost;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(this.#turnsForEach);
  }

  #schedule(turns: number): void {
    setImmediate(() => (turns > 1 ? this.#schedule(turns - 1) : this.#goOn()));
  }

  #goOn(): void {
    this.#isScheduled = false;
    this.#left = this.#costPerTurn;
    while (this.#left > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#begin(next.cost);
      next.begin();
    }
  }
}
