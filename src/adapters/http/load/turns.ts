import { Line, longestLine, overloaded } from './line.ts';

const defaultLimits = {
  /** For how long, in milliseconds, requests are begun in one turn of the event loop. */
  turnMs: 10,
  /**
   * How long a turn should be, with all that it brings, when the server is busy: what is refused
   * waits for its end.
   */
  busyTurnMs: 16,
  /** A request is refused where it would wait for longer than this, in milliseconds. */
  waitMs: 25,
  /** A line this long may always be joined, as the process may just have been paused. */
  shortLine: 256,
};

/** For how long the server is busy after a long line, in milliseconds: what left it soon comes back. */
const busyMs = 1000;

/**
 * How many of those in line begin in one turn: at least, when the server is busy (refusals alone may
 * take all of its time), and at most.
 */
const [leastInTurn, mostInTurn] = [16, 256];

/** For how many milliseconds requests of one key begin, before those of the next one. */
const keyMs = 4;

/** A turn that took longer than this, in milliseconds, held the process. */
const longTurnMs = 20;

/**
 * How many turns are left to others for each millisecond of that, and at most: Node accepts one
 * connection a turn. An idle process has them in no time.
 */
const [turnsOfMs, mostTurns] = [4, 2000];

/** For how long, in milliseconds, requests are counted before the pace is known anew. */
const sampleMs = 50;

/**
 * The turns of the event loop: how many requests begin in one. Turns stay short, so that refusals and
 * probes are sent at once. What does not fit in a turn stands in line, where keys take turns.
 */
export class Turns {
  readonly line = new Line(keyMs);
  readonly #limits: typeof defaultLimits;
  /** How many immediates will look at the line. */
  #scheduled = 0;
  /** When the first request of this turn began (`performance.now()`); undefined before it. */
  #began: number | undefined;
  /** How many began in this turn. */
  #begun = 0;
  /** How many turns are still left to others. */
  #left = 0;
  /** Until when the server is busy (`performance.now()`). */
  #busyUntil = 0;
  /** Milliseconds for each request of a busy server, with all that it brings; undefined until it is known. */
  #eachMs: number | undefined;
  #sample = { since: 0, served: 0 };

  constructor(limits: Partial<typeof defaultLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** @throws RostrumError `overloaded` where a request of this key would wait for too long */
  check(key: string): void {
    const { waitMs, shortLine } = this.#limits;
    const { length } = this.line;
    if (length < shortLine) return;
    const now = performance.now();
    if (now >= this.#busyUntil) this.#learnAnew(now);
    this.#busyUntil = now + busyMs;
    const ms = this.line.ahead(key) * (this.#eachMs ?? 0);
    if (length >= longestLine || ms > waitMs) throw overloaded;
  }

  /**
   * Waits until the event loop has time for a request.
   *
   * @returns undefined when it has
   */
  take(key: string, exchange: { readonly signal: AbortSignal }): Promise<void> | undefined {
    if (this.line.length === 0 && this.#hasTime()) return undefined;
    if (this.#scheduled === 0 && this.#left === 0) this.#schedule(1);
    return this.line.wait(() => true, exchange.signal, key);
  }

  /** Whether one more may begin in this turn; then it does. */
  #hasTime(): boolean {
    if (this.#left > 0) return false;
    const now = performance.now();
    const { turnMs, busyTurnMs } = this.#limits;
    if (this.#began === undefined) {
      this.#began = now;
      this.#begun = 0;
      if (this.#scheduled === 0) setImmediate(this.#endTurn);
    }
    if (now - this.#began >= turnMs) return false;
    if (now < this.#busyUntil) {
      const served = this.#eachMs === undefined ? mostInTurn : busyTurnMs / this.#eachMs;
      if (this.#begun >= Math.max(leastInTurn, served)) return false;
      this.#learn(now);
    }
    this.#begun += 1;
    return true;
  }

  readonly #endTurn = () => {
    if (this.#scheduled === 0) this.#end();
  };

  #end(): void {
    const now = performance.now();
    const held = now - (this.#began ?? now) - longTurnMs;
    this.#began = undefined;
    if (held > 0) {
      this.#left = Math.min(Math.ceil(held * turnsOfMs), mostTurns);
      setImmediate(this.#leaveTurn);
    } else if (this.line.length > 0) {
      this.#schedule(Math.min(this.line.length, mostInTurn));
    }
  }

  readonly #leaveTurn = () => {
    this.#left -= 1;
    if (this.#left > 0) setImmediate(this.#leaveTurn);
    else this.#end();
  };

  /** An immediate for each: the next one begins when the one before has done what it can at once. */
  #schedule(count: number): void {
    this.#scheduled = count;
    for (let n = 0; n < count; n++) setImmediate(this.#beginNext);
  }

  readonly #beginNext = () => {
    if (this.line.length > 0 && this.#hasTime()) this.line.next();
    this.#scheduled -= 1;
    if (this.#scheduled === 0) this.#end();
  };

  /** One more was served: how fast a busy server serves is known by what it did lately. */
  #learn(now: number): void {
    const { since } = this.#sample;
    this.#sample.served += 1;
    if (now - since < sampleMs) return;
    const each = (now - since) / this.#sample.served;
    this.#eachMs = this.#eachMs === undefined ? each : (this.#eachMs + each) / 2;
    this.#sample = { since: now, served: 0 };
  }

  /** A busy time begins: what was known of an earlier one is past. */
  #learnAnew(now: number): void {
    this.#eachMs = undefined;
    this.#sample = { since: now, served: 0 };
  }
}
