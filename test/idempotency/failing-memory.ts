import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { type Store, storeUnavailable } from '../../src/ports/index.ts';
import type { Faults } from './faults.ts';

/**
 * Nothing can fail inside the memory store, so its steps are the calls of its repositories. It
 * outlives its `close`, as data on a disk does.
 */
export function failingMemoryStore(faults: Faults): Store {
  const store = createMemoryStore();
  return {
    ...store,
    users: failing(store.users, faults),
    posts: failing(store.posts, faults),
    close: async () => {},
  };
}

function failing<T extends object>(repository: T, faults: Faults): T {
  return new Proxy(repository, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        const side = faults.next(String(name));
        if (side === 'before') throw storeUnavailable('none');
        const result: unknown = await Reflect.apply(method, target, args);
        if (side === 'after') throw storeUnavailable('unknown');
        return result;
      };
    },
  });
}
