import fc from 'fast-check';
import { createRostrum, type Rostrum, type Store } from '../../src/index.ts';
import type { Calls } from './calls.ts';
import { commands } from './commands.ts';
import { Oracle } from './oracle.ts';

/** What a run needs: an empty store each time, and a way to call the core that is on it. */
export interface Subject {
  readonly open: () => Store | Promise<Store>;
  readonly attach: (
    rostrum: Rostrum,
  ) => Promise<{ readonly calls: Calls; readonly close?: () => Promise<void> }>;
}

/** How many sequences, of how many commands each at most. */
export interface Extent {
  readonly runs: number;
  readonly commands: number;
  /** The seed of the random numbers; MODEL_SEED when absent, or else a new one each time. */
  readonly seed?: number;
  /** Whether to make a failing sequence as short as can be. */
  readonly shrink?: boolean;
}

/**
 * Makes random sequences of calls on a store and on a memory store, in lock step, and holds each
 * outcome to that of the memory store. A failure prints its seed and path; set MODEL_SEED (and
 * MODEL_PATH) to run that one again.
 *
 * @returns how many commands ran
 */
export async function runInLockStep({ open, attach }: Subject, extent: Extent): Promise<number> {
  const { MODEL_SEED, MODEL_PATH: path } = process.env;
  const { seed = MODEL_SEED === undefined ? undefined : Number(MODEL_SEED) } = extent;
  let ran = 0;
  const sequences = fc.commands(commands, { maxCommands: extent.commands, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await using store = await open();
      const model = new Oracle();
      const { calls: real, close } = await attach(createRostrum(store, model.parts));
      try {
        await fc.asyncModelRun(() => ({ model, real }), sequence);
      } finally {
        await close?.();
      }
      ran += [...sequence].length;
    }),
    {
      numRuns: extent.runs,
      endOnFailure: extent.shrink === false,
      ...(seed !== undefined && { seed }),
      ...(path !== undefined && { path }),
    },
  );
  return ran;
}
