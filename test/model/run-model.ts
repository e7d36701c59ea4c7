import fc from 'fast-check';
import { createRostrum, type Rostrum, type Store } from '../../src/index.ts';
import type { Calls, Outcome } from './calls.ts';
import { commands } from './commands.ts';
import { Model } from './model.ts';

/** What a run needs: an empty store each time, and a way to call the core that is on it. */
export interface Subject {
  readonly open: () => Store | Promise<Store>;
  readonly attach: (rostrum: Rostrum) => Promise<Attached>;
}

export interface Attached {
  readonly calls: Calls<Promise<Outcome>>;
  readonly close?: () => Promise<void>;
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
 * Holds random sequences of calls against the model. A failure prints its seed and path; set
 * MODEL_SEED (and MODEL_PATH) to run that one again.
 *
 * @returns how many commands ran
 */
export async function runModel({ open, attach }: Subject, extent: Extent): Promise<number> {
  const { MODEL_SEED, MODEL_PATH: path } = process.env;
  const { seed = MODEL_SEED === undefined ? undefined : Number(MODEL_SEED) } = extent;
  let ran = 0;
  const sequences = fc.commands(commands, { maxCommands: extent.commands, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await using store = await open();
      let { now, nextId } = new Model();
      const clock = { now: () => new Date(now).toISOString() };
      const rostrum = createRostrum(store, { clock, ids: { next: () => nextId } });
      const { calls, close = async () => {} } = await attach(rostrum);
      const steer = (model: Model) => {
        ({ now, nextId } = model);
      };
      try {
        await fc.asyncModelRun(() => ({ model: new Model(), real: { calls, steer } }), sequence);
      } finally {
        await close();
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
