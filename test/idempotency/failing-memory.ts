import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { storeUnavailable } from '../../src/domain/errors.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Faults } from './faults.ts';

/** Nothing can fail inside the memory store, so its steps are the calls of its repositories. */
export function failingMemoryStore(faults: Faults): Store {
  const store = createMemoryStore();
  return {
    users: failing(store.users, faults),
    posts: failing(store.posts, faults),
    ready: () => store.ready(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
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
