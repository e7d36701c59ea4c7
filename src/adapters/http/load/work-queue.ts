import { RostrumError } from '../../../domain/errors.ts';

/**
 * How many turns are left to others after long work. Node accepts one connection a turn, so that new
 * clients would wait for as many pieces of long work as there are clients before them.
 */
const defaultTurnsBetween = 32;

interface Waiting {
  readonly cost: number | undefined;
  begin(reckoned: number): void;
}

export interface WorkQueueOptions {
  /** How many turns of the event loop are left to others after so much work, at least. */
  readonly turnsBetween?: number;
  /** How many may be under way, where work is done in parts; any number when absent. */
  readonly mostUnderWay?: number;
}

/**
 * A queue that spreads long work over turns of the event loop: many who ask for it at once must not
 * keep those waiting who ask for little.
 */
export class WorkQueue {
  readonly #costAtOnce: number;
  readonly #turnsBetween: number;
  readonly #mostUnderWay: number;
  readonly #waiting: Waiting[] = [];
  #left: number;
  #underWay = 0;
  /** What work of an unknown cost took lately. */
  #expected = 0;
  #isScheduled = false;

  /** @param costAtOnce in the measure of {@link take} */
  constructor(costAtOnce: number, options: WorkQueueOptions = {}) {
    const { turnsBetween = defaultTurnsBetween, mostUnderWay = Infinity } = options;
    this.#costAtOnce = costAtOnce;
    this.#turnsBetween = turnsBetween;
    this.#mostUnderWay = mostUnderWay;
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
    return this.#isFree && this.#waiting.length === 0 ? this.#begin(cost) : undefined;
  }

  /**
   * The same, after other turns where it has to wait, in the order of the calls.
   *
   * @param mostMs for how many milliseconds it may wait
   * @throws RostrumError `overloaded` after that
   */
  async take(cost: number | undefined, mostMs: number): Promise<number> {
    const reckoned = this.tryTake(cost);
    if (reckoned !== undefined) return reckoned;
    const { promise, resolve: begin, reject } = Promise.withResolvers<number>();
    const waiting = { cost, begin };
    this.#waiting.push(waiting);
    const late = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      reject(new RostrumError('overloaded', {}));
    }, mostMs);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends work, and says what it took: others of an unknown cost wait the longer or the shorter. */
  settle(reckoned: number, cost: number): void {
    this.#expected = Math.max(cost, this.#expected / 2);
    this.#end(cost - reckoned);
  }

  /** Ends work that was not done. */
  cancel(reckoned: number): void {
    this.#end(-reckoned);
  }

  /** Counts work that did not wait. */
  spend(cost: number): void {
    this.#left = Math.min(this.#left - cost, this.#costAtOnce);
    if (this.#left > 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    const times = Math.max(1, Math.ceil(-this.#left / this.#costAtOnce));
    this.#schedule(this.#turnsBetween * times);
  }

  get #isFree(): boolean {
    return this.#left > 0 && this.#underWay < this.#mostUnderWay;
  }

  #begin(cost = this.#expected): number {
    this.#underWay += 1;
    this.spend(cost);
    return cost;
  }

  #end(cost: number): void {
    this.#underWay -= 1;
    this.spend(cost);
    if (!this.#isScheduled) this.#beginNext();
  }

  #schedule(turns: number): void {
    setImmediate(() => (turns > 1 ? this.#schedule(turns - 1) : this.#goOn()));
  }

  #goOn(): void {
    this.#isScheduled = false;
    this.#left = this.#costAtOnce;
    this.#beginNext();
  }

  #beginNext(): void {
    while (this.#isFree) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next.begin(this.#begin(next.cost));
    }
  }
}
