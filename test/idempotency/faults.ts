/**
 * When a step fails: before it takes effect, after it, or late. A late step fails immediately for its caller,
 * but takes effect when no call waits for it any more.
 */
export type Side = 'before' | 'after' | 'late';

export interface Fault {
  /** The index of the step from now on, starting at 0. */
  readonly step: number;
  readonly side: Side;
  /** Whether all later steps fail too, before they take effect. */
  readonly lasting: boolean;
}

/** Counts the steps of an operation and decides which of them fail. */
export class Faults {
  #fault: Fault | undefined;
  #steps = 0;
  #hit: string | undefined;

  arm(fault: Fault): void {
    this.#fault = fault;
    this.#steps = 0;
    this.#hit = undefined;
  }

  /** Returns the name of the step that failed, or undefined if it was never reached. */
  disarm(): string | undefined {
    this.#fault = undefined;
    return this.#hit;
  }

  /** Counts a step and returns how it should fail, if at all. */
  next(name: string): Side | undefined {
    if (this.#fault === undefined) return undefined;
    const { step, side, lasting } = this.#fault;
    const behind = this.#steps++ - step;
    if (behind === 0) this.#hit = name;
    if (behind > 0 && lasting) return 'before';
    return behind === 0 ? side : undefined;
  }
}
