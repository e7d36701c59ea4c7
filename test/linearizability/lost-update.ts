import { setImmediate } from 'node:timers/promises';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Store } from '../../src/index.ts';
import type { Entity, Repository } from '../../src/ports/index.ts';

/** A store whose changes replace what they read, whatever happened since: it loses updates. */
export function losingStore(): Store {
  const store = createMemoryStore();
  loseUpdates(store.users as unknown as AnyRepository);
  loseUpdates(store.posts as unknown as AnyRepository);
  return store;
}

type AnyRepository = Repository<Entity, object, 'createdAt'>;

function loseUpdates(repository: AnyRepository): void {
  const update = repository.update.bind(repository);
  repository.update = async (id, decide) => {
    const current = await repository.get(id);
    if (current === undefined) return undefined;
    const record = decide(current);
    if (record === current.record) return current;
    await setImmediate();
    return update(id, () => record);
  };
}
