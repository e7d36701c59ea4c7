import { isRostrumError } from '../../domain/errors.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';

/** Called when a call of the store has ended. Each string is one of a small set. */
type Ended = (outcome: string, seconds: number) => void;
export type Measure = (collection: Collection, operation: keyof Store['users']) => Ended;

/** Wraps a store, and reports how each call ended and how long it took. */
export function measuredStore(store: Store, measure: Measure): Store {
  const { users, posts, transfer, events, declaredFields } = store;
  return {
    users: {
      ...measuredRepository(users, (operation) => measure('users', operation)),
      delete: timed(measure('users', 'delete'), (...given) => users.delete(...given)),
    },
    posts: {
      ...measuredRepository(posts, (operation) => measure('posts', operation)),
      delete: timed(measure('posts', 'delete'), (...given) => posts.delete(...given)),
    },
    ...(transfer && { transfer }),
    ...(events && { events }),
    declaredFields,
    undeclare: (...given) => store.undeclare(...given),
    ready: () => store.ready(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function measuredRepository<R>(
  repository: Repository<R>,
  measure: (operation: keyof Repository<R>) => Ended,
): Repository<R> {
  return {
    get: timed(measure('get'), (...given) => repository.get(...given)),
    list: timed(measure('list'), (...given) => repository.list(...given)),
    create: timed(measure('create'), (...given) => repository.create(...given)),
    lastVersion: timed(measure('lastVersion'), (...given) => repository.lastVersion(...given)),
    update: timed(measure('update'), (...given) => repository.update(...given)),
  };
}

function timed<Given extends readonly unknown[], T>(
  ended: Ended,
  call: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  return (...given) => {
    const start = performance.now();
    const end = (outcome: string) => ended(outcome, (performance.now() - start) / 1000);
    const result = call(...given);
    // Return the store's own promise, so that measuring does not delay the caller.
    result.then(
      () => end('ok'),
      (error: unknown) => end(isRostrumError(error) ? error.code : 'error'),
    );
    return result;
  };
}
