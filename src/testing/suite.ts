import type { Store } from '../ports/store.ts';

/** What the suite needs of a test runner; Mocha's, Vitest's and node:test's fit as they are. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export interface StoreContract extends Runner {
  /** A fresh, empty store. Called once for each test, which closes it in the end. */
  readonly open: () => Store | Promise<Store>;
}

/** What a file of the suite is given to say its sentences with. */
export interface Suite {
  group(name: string, body: () => void): void;
  test(sentence: string, body: (store: Store) => Promise<void>): void;
}

export function suiteOn({ describe, it, open }: StoreContract): Suite {
  return {
    group: (name, body) => {
      describe(name, body);
    },
    test: (sentence, body) => {
      it(sentence, async () => {
        const store = await open();
        try {
          await body(store);
        } finally {
          await store.close();
        }
      });
    },
  };
}
