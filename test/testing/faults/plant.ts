import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import type {
  Creation,
  Entity,
  EntityFilter,
  Guard,
  Id,
  PostRepository,
  Receipt,
  RecordTransfer,
  Repository,
  Store,
  StoreOptions,
  User,
  UserRepository,
} from '../../../src/ports/index.ts';

/** One thing that a store gets wrong, and the tests of the suite that have to notice. */
export interface Fault {
  /** What is wrong, as a sentence about the store. */
  readonly fault: string;
  /** A part of the names of the tests that have to fail, all of them. */
  readonly breaks: string;
  readonly plan: Plan;
}

/** What a faulty store does otherwise than the memory store that it is made of. */
export interface Plan {
  readonly users?: (inner: UserRepository, store: Store) => Partial<UserRepository>;
  readonly posts?: (inner: PostRepository, store: Store) => Partial<PostRepository>;
  readonly transfer?: <R>(inner: RecordTransfer<R>) => Partial<RecordTransfer<R>>;
}

export function openPlanted(
  { users, posts, transfer = () => ({}) }: Plan,
  options: StoreOptions,
): Store {
  const inner = createMemoryStore(options);
  const moving = <R>(repository: RecordTransfer<R>): RecordTransfer<R> => ({
    scan: (...a) => repository.scan(...a),
    load: (...a) => repository.load(...a),
    ...transfer(repository),
  });
  return {
    users: {
      ...repositoryOf(inner.users),
      delete: (...a) => inner.users.delete(...a),
      ...users?.(inner.users, inner),
    },
    posts: {
      ...repositoryOf(inner.posts),
      delete: (...a) => inner.posts.delete(...a),
      ...posts?.(inner.posts, inner),
    },
    ...(inner.transfer && {
      transfer: { users: moving(inner.transfer.users), posts: moving(inner.transfer.posts) },
    }),
    ready: () => inner.ready(),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
  };
}

function repositoryOf<R, F, S extends string>(inner: Repository<R, F, S>): Repository<R, F, S> {
  return {
    get: (...a) => inner.get(...a),
    list: (...a) => inner.list(...a),
    create: (...a) => inner.create(...a),
    isIdTaken: (...a) => inner.isIdTaken(...a),
    update: (...a) => inner.update(...a),
  };
}

/** The same fault in both repositories. */
export function inBoth(
  change: <R extends Entity, F extends EntityFilter, S extends string>(
    inner: Repository<R, F, S>,
  ) => Partial<Repository<R, F, S>>,
): Plan {
  return { users: (inner) => change(inner), posts: (inner) => change(inner) };
}

/** The same fault in the deletion of users and of posts. */
export function inDeletions(
  change: <R extends Entity>(
    id: Id,
    guard: Guard<R> | undefined,
    proceed: (guard?: Guard<R>) => Promise<boolean>,
    inner: Pick<Repository<R, never, never>, 'get'>,
  ) => Promise<boolean>,
): Plan {
  return {
    users: (inner) => ({
      delete: async (id, mode, at, guard) => {
        const proceed = async (g?: Guard<User>) =>
          (await inner.delete(id, mode, at, g)) !== undefined;
        return (await change(id, guard, proceed, inner)) ? { posts: 0 } : undefined;
      },
    }),
    posts: (inner) => ({
      delete: (id, guard) => change(id, guard, (g) => inner.delete(id, g), inner),
    }),
  };
}

/** Lets all other calls go on: the gap of every check-then-act. */
export function elsewhere(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What was made under a receipt; undefined when its key is free, and it stays so. */
export async function earlierOf<R>(
  records: Pick<Repository<R, never, never>, 'create'>,
  receipt: Receipt,
): Promise<Creation<R> | undefined> {
  const free = new Error('the key is free');
  const unmade = {
    get id(): never {
      throw free;
    },
  };
  return records.create(unmade as R, receipt).catch((error) => {
    if (error !== free) throw error;
    return undefined;
  });
}
