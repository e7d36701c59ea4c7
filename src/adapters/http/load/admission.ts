import { RostrumError } from '../../../domain/errors.ts';
import { Pace } from './pace.ts';

/** Each kind is counted alone: a store that is slow with one does not end the others. */
export type Kind = 'list' | 'read' | 'write';

/** As what a request counts among those in progress, while it does. */
interface Admitted {
  inProgress: Kind | undefined;
}

export interface AdmissionLimits {
  /** How many requests of one kind may be in progress. */
  readonly inProgress: number;
  /** For how long, in milliseconds, requests are begun in one turn of the event loop. */
  readonly turnMs: number;
  /** The same while the line is not short: refusals and probes wait for the turn to end. */
  readonly busyTurnMs: number;
  /** Nobody joins a line in which he would wait for longer, in milliseconds. */
  readonly waitMs: number;
  /** A line this long may always be joined, as the process may just have been paused. */
  readonly shortLine: number;
}

const defaultLimits: AdmissionLimits = {
  inProgress: 1000,
  turnMs: 10,
  busyTurnMs: 3,
  waitMs: 50,
  shortLine: 256,
};

/** Made once: a stack costs as much as all else of a refusal, and would say nothing. */
const overloaded = new RostrumError('overloaded', {});

/** How many of those in line may begin in one turn. */
const mostPerTurn = 256;

/**
 * Bounds how many requests are in progress, and how long they wait for the event loop. Turns stay
 * short, so that refusals and probes are sent at once; what does not fit in a turn stands in line.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #inProgress: Record<Kind, number> = { list: 0, read: 0, write: 0 };
  readonly #line: (() => void)[] = [];
  readonly #pace = new Pace();
  /** How many immediates will look at the line. */
  #scheduled = 0;
  /** When the first request of this turn began (`performance.now()`); undefined before it. */
  #turn: number | undefined;

  constructor(limits = defaultLimits) {
    this.#limits = limits;
  }

  /** @throws RostrumError `overloaded` when a request would have to wait for too long */
  check(kind: Kind): void {
    const { inProgress, waitMs, shortLine } = this.#limits;
    const { length } = this.#line;
    const isLong = length >= shortLine && this.#pace.waitFor(length) > waitMs;
    if (isLong || this.#inProgress[kind] >= inProgress) throw overloaded;
  }

  /**
   * Lets a request begin, until {@link leave}.
   *
   * @returns undefined when it may begin at once
   * @throws RostrumError `overloaded`
   */
  enter(request: Admitted, kind: Kind): Promise<void> | undefined {
    this.check(kind);
    if (this.#line.length === 0 && this.#hasTime()) {
      this.#begin(request, kind);
      return undefined;
    }
    if (this.#line.length === 0) this.#pace.start();
    if (this.#scheduled === 0) this.#schedule(1);
    return new Promise((resolve) => {
      this.#line.push(() => {
        this.#begin(request, kind);
        resolve();
      });
    });
  }

  /** Ends what {@link enter} began; again, it does nothing. */
  leave(request: Admitted): void {
    const { inProgress } = request;
    if (inProgress === undefined) return;
    request.inProgress = undefined;
    this.#inProgress[inProgress] -= 1;
  }

  #begin(request: Admitted, kind: Kind): void {
    request.inProgress = kind;
    this.#inProgress[kind] += 1;
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (this.#turn === undefined) {
      this.#turn = now;
      setImmediate(this.#endTurn);
    }
    const { turnMs, busyTurnMs, shortLine } = this.#limits;
    return now - this.#turn < (this.#line.length < shortLine ? turnMs : busyTurnMs);
  }

  readonly #endTurn = () => {
    this.#turn = undefined;
  };

  /** An immediate for each: the next one begins when the one before has done what it can at once. */
  #schedule(count: number): void {
    this.#scheduled = count;
    for (let n = 0; n < count; n++) setImmediate(this.#beginNext);
  }

  readonly #beginNext = () => {
    this.#scheduled -= 1;
    if (this.#line.length > 0 && this.#hasTime()) {
      this.#line.shift()?.();
      this.#pace.serve();
    }
    if (this.#scheduled > 0) return;
    if (this.#line.length > 0) this.#schedule(Math.min(this.#line.length, mostPerTurn));
  };
}
