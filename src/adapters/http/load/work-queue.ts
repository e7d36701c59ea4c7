import { RostrumError } from '../../../domain/errors.ts';

/**
 * How many turns are left to others after long work. Node accepts one connection a turn, so that new
 * clients would wait for as many pieces of long work as there are clients before them.
 */
const defaultTurnsBetween = 32;

/** Work that has begun, and what it is reckoned with. */
export interface Begun {
  readonly cost: number;
  readonly isKnown: boolean;
}

interface Waiting {
  readonly cost: number | undefined;
  begin(begun: Begun): void;
}

/** How many times what is begun at once work may cost before no more turns are left to others for it. */
const mostDebt = 32;

export interface WorkQueueOptions {
  /** How many turns of the event loop are left to others after so much work, at least. */
  readonly turnsBetween?: number;
  /**
   * The cost of what may be under way, where work is done in parts, beside one piece; any when absent.
   * No piece counts for less than a 32nd of it, as nobody knows what it will prove to be.
   */
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
  readonly #leastUnderWay: number;
  readonly #waiting: Waiting[] = [];
  #left: number;
  /** The cost of what has begun and not ended. */
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
    this.#leastUnderWay = mostUnderWay === Infinity ? 0 : mostUnderWay / 32;
    this.#left = costAtOnce;
  }

  /**
   * Begins work at once, where so much has not yet begun in this turn.
   *
   * @param cost when it is not known, what such work took lately: else all that waits would begin at
   *   once
   * @returns what to {@link settle}; undefined where it has to wait
   */
  tryTake(cost?: number): Begun | undefined {
    return this.#isFree && this.#waiting.length === 0 ? this.#begin(cost) : undefined;
  }

  /**
   * The same, after other turns where it has to wait, in the order of the calls.
   *
   * @param mostMs for how many milliseconds it may wait
   * @throws RostrumError `overloaded` after that
   */
  async take(cost: number | undefined, mostMs: number): Promise<Begun> {
    const begun = this.tryTake(cost);
    if (begun !== undefined) return begun;
    const { promise, resolve: begin, reject } = Promise.withResolvers<Begun>();
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
  settle(begun: Begun, cost: number): void {
    if (!begun.isKnown) this.#expected = Math.max(cost, this.#expected / 2);
    this.#end(begun, cost);
  }

  /** Ends work that was not done. */
  cancel(begun: Begun): void {
    this.#end(begun, 0);
  }

  /** Counts work that did not wait. */
  spend(cost: number): void {
    const left = Math.min(this.#left - cost, this.#costAtOnce);
    this.#left = Math.max(left, -mostDebt * this.#costAtOnce);
    if (this.#left > 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(this.#turnsBetween);
  }

  get #isFree(): boolean {
    return this.#left > 0 && (this.#underWay === 0 || this.#underWay < this.#mostUnderWay);
  }

  #begin(known?: number): Begun {
    const cost = known ?? Math.min(this.#expected, this.#costAtOnce);
    this.#underWay += Math.max(cost, this.#leastUnderWay);
    this.spend(cost);
    return { cost, isKnown: known !== undefined };
  }

  #end(begun: Begun, cost: number): void {
    this.#underWay -= Math.max(begun.cost, this.#leastUnderWay);
    this.spend(cost - begun.cost);
    if (!this.#isScheduled) this.#beginNext();
  }

  #schedule(turns: number): void {
    setImmediate(() => (turns > 1 ? this.#schedule(turns - 1) : this.#goOn()));
  }

  /** What work took beyond its part is paid off part by part. */
  #goOn(): void {
    this.#isScheduled = false;
    this.spend(-this.#costAtOnce);
    if (!this.#isScheduled) this.#beginNext();
  }

  #beginNext(): void {
    while (this.#isFree) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next.begin(this.#begin(next.cost));
    }
  }
}
