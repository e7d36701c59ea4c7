import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import type { EntityFilter, Order } from '../../../src/domain/page.ts';
import type { Entity, Id } from '../../../src/domain/record.ts';
import type { PostRepository } from '../../../src/ports/post-repository.ts';
import type { Guard, Repository } from '../../../src/ports/repository.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { UserRepository } from '../../../src/ports/user-repository.ts';

/** One thing that a store gets wrong, and the sentence of the suite that has to notice. */
export interface Fault {
  /** What is wrong, as a sentence about the store. */
  readonly fault: string;
  /** How the test that has to fail begins. */
  readonly breaks: string;
  readonly plan: Plan;
}

/** What a faulty store does otherwise than the memory store that it is made of. */
export interface Plan {
  readonly users?: (inner: UserRepository, store: Store) => Partial<UserRepository>;
  readonly posts?: (inner: PostRepository, store: Store) => Partial<PostRepository>;
  readonly store?: (inner: Store) => Partial<Store>;
}

export function openPlanted(plan: Plan): Store {
  const inner = createMemoryStore();
  const store: Store = {
    users: { ...repositoryOf(inner.users), delete: (...a) => inner.users.delete(...a) },
    posts: { ...repositoryOf(inner.posts), delete: (...a) => inner.posts.delete(...a) },
    ready: () => inner.ready(),
    close: () => inner.close(),
    [Symbol.asyncDispose]: () => inner.close(),
  };
  return {
    ...store,
    users: { ...store.users, ...plan.users?.(inner.users, inner) },
    posts: { ...store.posts, ...plan.posts?.(inner.posts, inner) },
    ...plan.store?.(inner),
  };
}

function repositoryOf<R extends Entity, F, O>(inner: Repository<R, F, O>): Repository<R, F, O> {
  return {
    get: (...a) => inner.get(...a),
    list: (...a) => inner.list(...a),
    create: (...a) => inner.create(...a),
    replay: (...a) => inner.replay(...a),
    update: (...a) => inner.update(...a),
    scan: (...a) => inner.scan(...a),
    load: (...a) => inner.load(...a),
  };
}

/** The same fault in both repositories. */
export function inBoth(
  change: <R extends Entity, F extends EntityFilter, O extends Order<string>>(
    inner: Repository<R, F, O>,
  ) => Partial<Repository<R, F, O>>,
): Plan {
  return { users: (inner) => change(inner), posts: (inner) => change(inner) };
}

/** A record is changed on its way into the store. */
export function storing(change: <R extends Entity>(record: R) => Entity): Plan {
  return inBoth((inner) => ({
    create: (record, claim) => inner.create(change(record) as typeof record, claim),
    update: (id, decide) =>
      inner.update(id, (current) => {
        const next = decide(current);
        return next === current.record ? next : (change(next) as typeof next);
      }),
  }));
}

/** The same fault in the deletion of either kind. */
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
      delete: (id, mode, guard) => change(id, guard, (g) => inner.delete(id, mode, g), inner),
    }),
    posts: (inner) => ({
      delete: (id, guard) => change(id, guard, (g) => inner.delete(id, g), inner),
    }),
  };
}

/** Lets whoever else is waiting go first: the hole of every check-then-act. */
export function elsewhere(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
