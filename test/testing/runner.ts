import { describeStore, type StoreContract } from '../../src/testing/index.ts';

/** A test of the suite that has not run yet. */
export interface CollectedTest {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Collects the tests of the suite for a store, as a runner would, without running them. */
export function collect(contract: Omit<StoreContract, 'describe' | 'it'>): CollectedTest[] {
  const tests: CollectedTest[] = [];
  describeStore('the store', {
    ...contract,
    describe: (_, body) => body(),
    it: (name, run) => tests.push({ name, run }),
  });
  return tests;
}

/** Runs tests one after the other. Returns the errors of those that fail, by their names. */
export async function failuresOf(tests: readonly CollectedTest[]): Promise<Map<string, Error>> {
  const failures = new Map<string, Error>();
  for (const { name, run } of tests) {
    try {
      await run();
    } catch (error) {
      failures.set(name, error as Error);
    }
  }
  return failures;
}
