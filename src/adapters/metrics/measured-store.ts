import { isRostrumError } from '../../domain/errors.ts';
import type { Collection } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';

/** Makes what is told of each call of one operation when it has ended. Every text is one of a small set. */
export type Measure = (
  collection: Collection,
  operation: keyof Store['users'],
) => (outcome: string, seconds: number) => void;

/** A store that says of each call how it ended and how long it took. */
export function measuredStore(store: Store, measure: Measure): Store {
  const { users, posts, transfer } = store;
  const timed = (collection: Collection) => (operation: keyof Store['users']) =>
    timing(measure(collection, operation));
  const [ofUsers, ofPosts] = [timed('users')('delete'), timed('posts')('delete')];
  return {
    users: {
      ...measuredRepository(users, timed('users')),
      delete: (...given) => ofUsers(() => users.delete(...given)),
    },
    posts: {
      ...measuredRepository(posts, timed('posts')),
      delete: (...given) => ofPosts(() => posts.delete(...given)),
    },
    ...(transfer && { transfer }),
    ready: () => store.ready(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

type Timed = <T>(call: () => Promise<T>) => Promise<T>;

function timing(measure: ReturnType<Measure>): Timed {
  return (call) => {
    const start = performance.now();
    const end = (outcome: string) => measure(outcome, (performance.now() - start) / 1000);
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
  timed: (operation: keyof Repository<R, Filter, Sort>) => Timed,
): Repository<R, Filter, Sort> {
  const [get, list, create, isIdTaken, update] = [
    timed('get'),
    timed('list'),
    timed('create'),
    timed('isIdTaken'),
    timed('update'),
  ];
  return {
    get: (id) => get(() => repository.get(id)),
    list: (request) => list(() => repository.list(request)),
    create: (make, claim) => create(() => repository.create(make, claim)),
    isIdTaken: (id) => isIdTaken(() => repository.isIdTaken(id)),
    update: (id, decide) => update(() => repository.update(id, decide)),
  };
}
