import { isRostrumError } from '../../domain/errors.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { Store } from '../../ports/store.ts';

/** Called when a call of the store has ended. Each string is one of a small set. */
type Ended = (outcome: string, seconds: number) => void;
export type Measure = (collection: Collection, operation: keyof Store['users']) => Ended;

/** Wraps a store, and reports how each call ended and how long it took. */
export function measuredStore(store: Store, measure: Measure): Store {
  const { transfer, events, declaredFields } = store;
  return {
    users: measuredRepository(store.users, (operation) => measure('users', operation)),
    posts: measuredRepository(store.posts, (operation) => measure('posts', operation)),
    ...(transfer && { transfer }),
    ...(events && { events }),
    declaredFields,
    undeclare: (...given) => store.undeclare(...given),
    ready: () => store.ready(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

const operations = ['get', 'list', 'create', 'lastVersion', 'update', 'delete'] as const;

type Call = (...given: readonly unknown[]) => Promise<unknown>;

function measuredRepository<R extends Store['users'] | Store['posts']>(
  repository: R,
  measure: (operation: (typeof operations)[number]) => Ended,
): R {
  const calls = operations.map((name) => [name, timed(measure(name), repository, name)]);
  return Object.fromEntries(calls);
}

function timed(ended: Ended, repository: object, name: string): Call {
  const call: Call = Reflect.get(repository, name).bind(repository);
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
