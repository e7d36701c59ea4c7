import { Line, longestLine, overloaded } from './line.ts';

/** For how long, in milliseconds, requests are begun in one turn of the event loop. */
const turnMs = 10;

/** How many wait before one more of the same key is refused. */
const mostAhead = 256;

/** How many of those in line begin in one turn at most. */
const mostInTurn = 256;

/** For how many milliseconds requests of one key begin, before those of the next one. */
const keyMs = 4;

/** A turn that took longer than this, in milliseconds, held the process. */
const longTurnMs = 20;

/**
 * How many turns are left to others for each millisecond of that, and at most: Node accepts one
 * connection a turn. An idle process has them in no time.
 */
const [turnsOfMs, mostTurns] = [4, 2000];

/**
 * The turns of the event loop: how many requests begin in one. Turns stay short, so that refusals and
 * probes are sent at once. What does not fit in a turn stands in line, where keys take turns.
 */
export class Turns {
  readonly line = new Line(keyMs);
  /** How many immediates will look at the line. */
  #scheduled = 0;
  /** When the first request of this turn began (`performance.now()`); undefined before it. */
  #began: number | undefined;
  /** How many turns are still left to others. */
  #left = 0;

  /** @throws RostrumError `overloaded` where a request of this key would wait for too long */
  check(key: string): void {
    if (this.line.length >= longestLine || this.line.ahead(key) >= mostAhead) throw overloaded;
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

  /** Whether one more may begin in this turn. */
  #hasTime(): boolean {
    if (this.#left > 0) return false;
    const now = performance.now();
    if (this.#began === undefined) {
      this.#began = now;
      if (this.#scheduled === 0) setImmediate(this.#endTurn);
    }
    return now - this.#began < turnMs;
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
}
