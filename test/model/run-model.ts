import fc from 'fast-check';
import { instantFromMs } from '../../src/domain/instant.ts';
import { createRostrum, type Rostrum, type Store } from '../../src/index.ts';
import type { Calls } from './calls.ts';
import { commands } from './commands.ts';
import { Model } from './model.ts';

/** What a run needs: an empty store each time, and a way to call the core that is on it. */
export interface Subject {
  readonly open: () => Store | Promise<Store>;
  readonly attach: (rostrum: Rostrum) => Promise<Attached>;
}

export interface Attached extends AsyncDisposable {
  readonly calls: Calls;
}

/** How many sequences, of how many commands each at most. */
export interface Extent {
  readonly runs: number;
  readonly commands: number;
  /** Where the random numbers begin; a new place each time when absent. */
  readonly seed?: number | undefined;
  /** Whether a failing sequence is made as short as can be; true when absent. */
  readonly shrink?: boolean | undefined;
}

/**
 * Holds random sequences of calls against the model. A failure prints its seed and path; set
 * MODEL_SEED (and MODEL_PATH) to run that one again.
 *
 * @returns how many commands ran
 */
export async function runModel(
  { open, attach }: Subject,
  { runs, commands: most, seed = seedFromEnvironment(), shrink = true }: Extent,
): Promise<number> {
  const { MODEL_PATH: path } = process.env;
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.commands(commands, { maxCommands: most, size: 'max' }),
      async (sequence) => {
        await using store = await open();
        let ms = 0;
        let id = 0;
        const clock = { now: () => instantFromMs(ms) };
        await using attached = await attach(
          createRostrum(store, { clock, ids: { next: () => idOf(id) } }),
        );
        const real = {
          calls: attached.calls,
          nextId: () => idOf(++id),
          setClock: (now: number) => {
            ms = now;
          },
        };
        await fc.asyncModelRun(() => ({ model: new Model(), real }), sequence);
        ran += [...sequence].length;
      },
    ),
    {
      numRuns: runs,
      endOnFailure: !shrink,
      ...(seed !== undefined && { seed }),
      ...(path !== undefined && { path }),
    },
  );
  return ran;
}

function seedFromEnvironment(): number | undefined {
  const { MODEL_SEED: seed } = process.env;
  return seed === undefined ? undefined : Number(seed);
}

/** Ids whose order is not the order that they were made in. */
function idOf(n: number): string {
  return `${String((n * 7919) % 100_003).padStart(6, '0')}-${n}`;
}
