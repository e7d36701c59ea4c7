import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Store } from '../../../../src/index.ts';

/** A store in which reads of a user wait until `release`. */
export interface SlowStore {
  readonly store: Store;
  /** Resolves when a read has begun. */
  begun(): Promise<void>;
  release(): void;
}

export function slowStore(): SlowStore {
  const store = createMemoryStore();
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { get } = store.users;
  store.users.get = async (id) => {
    begun.resolve();
    await gate.promise;
    return get.call(store.users, id);
  };
  return { store, begun: () => begun.promise, release: () => gate.resolve() };
}
