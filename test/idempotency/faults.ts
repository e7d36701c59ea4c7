/**
 * How a step fails: before it has its effect, after it, or late: its caller is told of a failure
 * at once, and the step has its effect when no call waits for it any more.
 */
export type Side = 'before' | 'after' | 'late';

export interface Fault {
  /** Of the steps from now on, counted from 0. */
  readonly step: number;
  readonly side: Side;
  /** Whether all steps behind it fail as well, before they have an effect. */
  readonly lasting: boolean;
}

/** Counts the steps of something that can fail, and chooses which of them do. */
export class Faults {
  #fault: Fault | undefined;
  #steps = 0;
  #hit: string | undefined;

  arm(fault: Fault): void {
    this.#fault = fault;
    this.#steps = 0;
    this.#hit = undefined;
  }

  /** @returns the name of the step that failed; undefined when it was never reached */
  disarm(): string | undefined {
    this.#fault = undefined;
    return this.#hit;
  }

  /** Counts a step. @returns how it shall fail, if it shall */
  next(name: string): Side | undefined {
    if (this.#fault === undefined) return undefined;
    const { step, side, lasting } = this.#fault;
    const behind = this.#steps++ - step;
    if (behind === 0) this.#hit = name;
    if (behind > 0 && lasting) return 'before';
    return behind === 0 ? side : undefined;
  }
}
