import { setTimeout as sleep } from 'node:timers/promises';
import {
  afterChange,
  isRostrumError,
  type Outcome,
  storeUnavailable,
} from '../../../domain/errors.ts';
import { isSelectionFailure, translate } from './errors.ts';
import { limits } from './limits.ts';
import type { Primary } from './primary-watch.ts';

/** Stands around every step of a write; tests delay, fail and skip steps with it. */
export type Intercept = <T>(step: string, run: () => Promise<T>) => Promise<T>;

/** The bounds of one operation, as options of the driver. */
export interface Bounds {
  /** On the server. */
  readonly maxTimeMS: number;
  /** When it is aborted, the driver closes the connection, and so the server ends the operation. */
  readonly signal: AbortSignal | undefined;
}

/**
 * One call of a port: bounded as a whole, however many steps and tries it takes. The driver has no
 * such bound (its `timeoutMS` does nothing), so the call stops waiting and leaves the operation to
 * the bound of its socket.
 */
export class Call {
  readonly #primary: Primary;
  readonly #intercept: Intercept;
  readonly #signal: AbortSignal | undefined;
  readonly #started = Date.now();
  #ends = this.#started + limits.callMs;
  #hasChanged = false;

  constructor(primary: Primary, intercept: Intercept, signal?: AbortSignal) {
    this.#primary = primary;
    this.#intercept = intercept;
    this.#signal = signal;
  }

  /**
   * Runs an operation that reads; what it found counts when no other primary took over meanwhile, else
   * it is run again. A new primary has all that was acknowledged, but for a moment it does not know
   * that a majority has it, and shows what was before.
   */
  async read<T>(run: (bounds: Bounds) => Promise<T>): Promise<T> {
    for (;;) {
      const { term } = this.#primary;
      if (!term.isCaughtUp) await this.readLocally(() => this.#primary.catchUp());
      const result = await this.readLocally(run);
      if (this.#primary.term === term) return result;
    }
  }

  /** A read whose result need not be known to a majority. */
  readLocally<T>(run: (bounds: Bounds) => Promise<T>): Promise<T> {
    return this.#run('none', run);
  }

  /** A write that no reader sees: when its outcome is unknown, nothing has been changed. */
  prepare<T>(step: string, run: (bounds: Bounds) => Promise<T>): Promise<T> {
    return this.#intercept(step, () => this.#run('none', run));
  }

  /** A write that readers see. */
  async commit<T>(step: string, run: (bounds: Bounds) => Promise<T>): Promise<T> {
    try {
      const result = await this.#intercept(step, () => this.#run('unknown', run));
      this.#hasChanged = true;
      return result;
    } catch (error) {
      const isNone = isRostrumError(error, 'store-unavailable') && error.details.outcome === 'none';
      this.#hasChanged ||= !isNone;
      throw error;
    }
  }

  /** Runs work of several changes: when it fails after one of them, the outcome is unknown. */
  async inParts<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#hasChanged ? afterChange(error) : error;
    }
  }

  /** Waits a moment before another try: longer each time, and each caller differently long. */
  async pause(attempt: number, outcome: Outcome = 'none'): Promise<void> {
    const most = Math.min(5 * 2 ** attempt, 200);
    await sleep(Math.min(1 + Math.random() * most, this.#left(outcome)));
    this.#left(outcome);
  }

  /** Gives work that gets on more time than a call has, but not for ever. */
  extend(): void {
    const most = this.#started + limits.cascadeMs;
    this.#ends = Math.max(this.#ends, Math.min(Date.now() + limits.callMs, most));
  }

  async #run<T>(outcome: Outcome, run: (bounds: Bounds) => Promise<T>): Promise<T> {
    const left = this.#left('none');
    const blind = this.#primary.blindSince;
    const maxTimeMS = Math.ceil(Math.min(left, limits.operationMs));
    const work = run({ maxTimeMS, signal: this.#signal });
    try {
      return await withTimeout(left, work, () => storeUnavailable(outcome));
    } catch (error) {
      // No server in sight all the while: nothing can have been sent, not by a first try either.
      const unsent =
        isSelectionFailure(error) && blind !== undefined && blind === this.#primary.blindSince;
      throw translate(error, unsent ? 'none' : outcome);
    }
  }

  #left(outcome: Outcome): number {
    this.#signal?.throwIfAborted();
    const left = this.#ends - Date.now();
    if (left <= 0) throw storeUnavailable(outcome);
    return left;
  }
}

/** Node keeps timers of one length in one list, and what opens a list costs more than a timer. */
const grainMs = 100;

/**
 * The result of some work, or an error when it takes too long; then the work is left alone.
 *
 * @param ms is rounded up to a tenth of a second
 */
export function withTimeout<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  // By hand, as `Promise.race` costs a short operation a twentieth of its time.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.ceil(ms / grainMs) * grainMs);
    const end = <V>(settle: (value: V) => void) => {
      return (value: V) => {
        clearTimeout(timer);
        settle(value);
      };
    };
    work.then(end(resolve), end(reject));
  });
}
