import { describeStore, type StoreContract } from '../../src/testing/index.ts';

/** One test of the suite, not yet run. */
export interface CollectedTest {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Reads the suite for a store, as a runner would, and runs nothing. */
export function collect(
  open: StoreContract['open'],
  concessions: Partial<StoreContract> = {},
): CollectedTest[] {
  const tests: CollectedTest[] = [];
  describeStore('the store', {
    ...concessions,
    open,
    describe: (_, body) => body(),
    it: (name, run) => tests.push({ name, run }),
  });
  return tests;
}

/** Runs tests one after the other. @returns the errors of those that fail, by their names */
export async function failuresOf(tests: readonly CollectedTest[]): Promise<Map<string, unknown>> {
  const failures = new Map<string, unknown>();
  for (const { name, run } of tests) {
    try {
      await run();
    } catch (error) {
      failures.set(name, error);
    }
  }
  return failures;
}
