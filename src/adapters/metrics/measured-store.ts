import { isRostrumError } from '../../domain/errors.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';

/** Told of each call of a store when it has ended. Every text is one of a small set. */
export type Measure = (
  collection: 'users' | 'posts',
  operation: keyof Store['users'],
  outcome: string,
  seconds: number,
) => void;

/** A store that says of each call how it ended and how long it took. */
export function measuredStore(store: Store, measure: Measure): Store {
  const { users, posts, transfer } = store;
  const [ofUsers, ofPosts] = [timed('users', measure), timed('posts', measure)];
  return {
    users: {
      ...measuredRepository(users, ofUsers),
      delete: (...given) => ofUsers('delete', () => users.delete(...given)),
    },
    posts: {
      ...measuredRepository(posts, ofPosts),
      delete: (...given) => ofPosts('delete', () => posts.delete(...given)),
    },
    ...(transfer && { transfer }),
    ready: () => store.ready(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

type Timed = <T>(operation: keyof Store['users'], call: () => Promise<T>) => Promise<T>;

function timed(collection: 'users' | 'posts', measure: Measure): Timed {
  return (operation, call) => {
    const start = performance.now();
    const end = (outcome: string) =>
      measure(collection, operation, outcome, (performance.now() - start) / 1000);
    const result = call();
    // The very promise of the store goes on: whoever waits for it hears no later of it.
    result.then(
      () => end('ok'),
      (error: unknown) => end(isRostrumError(error) ? error.code : 'error'),
    );
    return result;
  };
}

function measuredRepository<R, Filter, Sort extends string>(
  repository: Repository<R, Filter, Sort>,
  of: Timed,
): Repository<R, Filter, Sort> {
  return {
    get: (id) => of('get', () => repository.get(id)),
    list: (request) => of('list', () => repository.list(request)),
    create: (make, claim) => of('create', () => repository.create(make, claim)),
    update: (id, decide) => of('update', () => repository.update(id, decide)),
  };
}
