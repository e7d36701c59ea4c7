import fc from 'fast-check';
import { createRostrum, type Rostrum, type Store } from '../../src/index.ts';
import type { Calls } from './calls.ts';
import { commands } from './commands.ts';
import { Oracle } from './oracle.ts';

/** Opens an empty store for each sequence, and attaches calls to a core on it. */
export interface Subject {
  readonly open: () => Store | Promise<Store>;
  readonly attach: (
    rostrum: Rostrum,
  ) => Promise<{ readonly calls: Calls; readonly close?: () => Promise<void> }>;
}

/** The number of sequences, and the maximum number of commands in each. */
export interface Extent {
  readonly runs: number;
  readonly commands: number;
  /** The random seed. Defaults to MODEL_SEED, or else a new one each time. */
  readonly seed?: number;
  /** Whether to shrink a failing sequence. */
  readonly shrink?: boolean;
}

/**
 * Makes random sequences of calls on a store and on the memory store, and expects the same outcome of each
 * call. A failure prints its seed and path; set MODEL_SEED (and MODEL_PATH) to reproduce it. Returns how many
 * commands ran.
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
