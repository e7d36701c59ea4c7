import { setImmediate } from 'node:timers/promises';
import type { Store } from '../../src/index.ts';
import type { Entity, Repository } from '../../src/ports/index.ts';

/** Makes the changes of a store replace what they read, whatever happened since. */
export function loseUpdates(store: Store): Store {
  for (const one of [store.users, store.posts]) loseUpdatesOf(one as unknown as AnyRepository);
  return store;
}

type AnyRepository = Repository<Entity, object, 'createdAt'>;

function loseUpdatesOf(repository: AnyRepository): void {
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
