import type { Store } from '../../src/ports/store.ts';
import { describeStore } from '../../src/testing/index.ts';

/** One test of the suite, not yet run. */
export interface CollectedTest {
  readonly group: string;
  readonly sentence: string;
  readonly run: () => Promise<void>;
}

/** Reads the suite for a store, as a runner would, and runs nothing. */
export function collect(open: () => Store): CollectedTest[] {
  const path: string[] = [];
  const tests: CollectedTest[] = [];
  describeStore('the store', {
    open,
    describe: (name, body) => {
      path.push(name);
      body();
      path.pop();
    },
    it: (sentence, run) => {
      tests.push({ group: path.slice(1).join(' '), sentence, run });
    },
  });
  return tests;
}

/** Runs tests one after the other. */
export async function failuresOf(
  tests: readonly CollectedTest[],
): Promise<{ sentence: string; error: unknown }[]> {
  const failures: { sentence: string; error: unknown }[] = [];
  for (const { sentence, run } of tests) {
    try {
      await run();
    } catch (error) {
      failures.push({ sentence, error });
    }
  }
  return failures;
}
