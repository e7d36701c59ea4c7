import { parseArgs } from 'node:util';

/** How much is measured. */
export interface Extent {
  /** Less of everything: to see that it runs, not to know how fast. */
  readonly quick: boolean;
  /** Times that each of the things that are compared has its turn. */
  readonly rounds: number;
  /** How long a turn lasts. */
  readonly turnMs: number;
  /** Posts in the large store. */
  readonly many: number;
  /** All of it takes no longer. */
  readonly boundMs: number;
}

const full: Extent = {
  quick: false,
  rounds: 15,
  turnMs: 400,
  many: 1_000_000,
  boundMs: 30 * 60_000,
};

const quick: Extent = {
  quick: true,
  rounds: 3,
  turnMs: 200,
  many: 100_000,
  boundMs: 5 * 60_000,
};

export interface Options {
  readonly extent: Extent;
  /** The one measurement that is wanted; all of them when absent. */
  readonly only: string | undefined;
}

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
  });
  return { extent: values.quick ? quick : full, only: values.only };
}
