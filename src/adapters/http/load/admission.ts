import { RostrumError } from '../../../domain/errors.ts';
import { Pace } from './pace.ts';

/** Each kind is counted alone: a store that is slow with one does not end the others. */
export type RequestKind = 'list' | 'read' | 'write';

/** As what a request counts among those in progress, while it does. */
interface Admitted {
  inProgress: RequestKind | undefined;
}

export interface AdmissionLimits {
  readonly inProgress: number;
  /** For how long, in milliseconds, requests are begun in one turn of the event loop. */
  readonly turnMs: number;
  /**
   * How long a turn should be, with all that it brings, when the server is busy: what is refused
   * waits for its end.
   */
  readonly busyTurnMs: number;
  /** A request is refused where it would wait for longer than this, in milliseconds. */
  readonly waitMs: number;
  /** A line this long may always be joined, as the process may just have been paused. */
  readonly shortLine: number;
  /** A line this long is full: parts of bodies may be in memory already. */
  readonly longLine: number;
}

const defaultLimits = {
  turnMs: 10,
  busyTurnMs: 16,
  waitMs: 25,
  shortLine: 256,
  longLine: 1000,
};

/** Made once: a stack costs as much as all else of a refusal, and would say nothing. */
const overloaded = new RostrumError('overloaded', {});

/** For how long the server is busy after a long line, in milliseconds: what left it soon comes back. */
const busyMs = 1000;

/**
 * How many of those in line begin in one turn: at least, when the server is busy (refusals alone may
 * take all of its time), and at most.
 */
const [leastInTurn, mostInTurn] = [16, 256];

/**
 * Bounds how many requests are in progress, and how long they wait for the event loop. Turns stay
 * short, so that refusals and probes are sent at once; what does not fit in a turn stands in line.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #inProgress: Record<RequestKind, number> = { list: 0, read: 0, write: 0 };
  readonly #line: (() => void)[] = [];
  readonly #pace = new Pace();
  /** How many immediates will look at the line. */
  #scheduled = 0;
  /** When the first request of this turn began (`performance.now()`); undefined before it. */
  #turn: number | undefined;
  /** How many began in this turn. */
  #begun = 0;
  /** Until when the server is busy (`performance.now()`). */
  #busyUntil = 0;

  /** @param inProgress how many requests of one kind may be */
  constructor(inProgress: number, limits: Partial<AdmissionLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits, inProgress };
  }

  get inProgress(): number {
    const { list, read, write } = this.#inProgress;
    return list + read + write;
  }

  /**
   * Waits until the event loop has time for a request.
   *
   * @returns undefined when it has
   * @throws RostrumError `overloaded` when that would take too long, or too many are in progress
   */
  wait(kind: RequestKind): Promise<void> | undefined {
    const { waitMs, shortLine, longLine } = this.#limits;
    const { length } = this.#line;
    if (length >= shortLine) this.#setBusy();
    const isLong =
      length >= longLine || (length >= shortLine && this.#pace.waitFor(length) > waitMs);
    if (isLong || this.#isFull(kind)) throw overloaded;
    if (length === 0 && this.#hasTime()) return undefined;
    if (this.#scheduled === 0) this.#schedule(1);
    return new Promise((resolve) => this.#line.push(resolve));
  }

  /**
   * Counts a request among those in progress, until {@link leave}.
   *
   * @throws RostrumError `overloaded` when too many are
   */
  enter(request: Admitted, kind: RequestKind): void {
    if (this.#isFull(kind)) throw overloaded;
    this.enterAgain(request, kind);
  }

  /** The same for a request that waited for others meanwhile. */
  enterAgain(request: Admitted, kind: RequestKind): void {
    request.inProgress = kind;
    this.#inProgress[kind] += 1;
  }

  /** Ends what {@link enter} began; again, it does nothing. */
  leave(request: Admitted): void {
    const { inProgress } = request;
    if (inProgress === undefined) return;
    request.inProgress = undefined;
    this.#inProgress[inProgress] -= 1;
  }

  #isFull(kind: RequestKind): boolean {
    return this.#inProgress[kind] >= this.#limits.inProgress;
  }

  #setBusy(): void {
    const now = performance.now();
    if (now >= this.#busyUntil) this.#pace.start(now);
    this.#busyUntil = now + busyMs;
  }

  /** Whether one more may begin in this turn; then it does. */
  #hasTime(): boolean {
    const now = performance.now();
    const { turnMs, busyTurnMs } = this.#limits;
    if (this.#turn === undefined) {
      this.#turn = now;
      this.#begun = 0;
      if (this.#scheduled === 0) setImmediate(this.#endTurn);
    }
    if (now - this.#turn >= turnMs) return false;
    if (now < this.#busyUntil) {
      if (this.#begun >= Math.max(leastInTurn, this.#pace.servedIn(busyTurnMs))) return false;
      this.#pace.serve(now);
    }
    this.#begun += 1;
    return true;
  }

  readonly #endTurn = () => {
    if (this.#scheduled === 0) this.#turn = undefined;
  };

  /** An immediate for each: the next one begins when the one before has done what it can at once. */
  #schedule(count: number): void {
    this.#scheduled = count;
    for (let n = 0; n < count; n++) setImmediate(this.#beginNext);
  }

  readonly #beginNext = () => {
    if (this.#line.length > 0 && this.#hasTime()) this.#line.shift()?.();
    this.#scheduled -= 1;
    if (this.#scheduled > 0) return;
    this.#turn = undefined;
    if (this.#line.length > 0) this.#schedule(Math.min(this.#line.length, mostInTurn));
  };
}
