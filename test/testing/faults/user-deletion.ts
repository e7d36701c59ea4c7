import { isRostrumError, userHasPosts } from '../../../src/domain/errors.ts';
import type { Post } from '../../../src/domain/post.ts';
import type { Id, Versioned } from '../../../src/domain/record.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { UserRepository } from '../../../src/ports/user-repository.ts';
import type { Fault, Plan } from './plant.ts';

export const userDeletion: Fault[] = [
  {
    fault: 'tells that there are posts and not how many',
    breaks: 'refuse: a user who has posts stays',
    plan: deleting(
      (inner) =>
        (...args) =>
          inner.delete(...args).catch((error) => {
            throw isRostrumError(error, 'user-has-posts') ? userHasPosts(1) : error;
          }),
    ),
  },
  {
    fault: 'deletes a user who has posts',
    breaks: 'refuse: a user who has posts stays',
    plan: deleting(
      (inner) => (id, mode, guard) =>
        inner.delete(id, mode.posts === 'refuse' ? { posts: 'delete' } : mode, guard),
    ),
  },
  {
    fault: 'counts posts that moved away or are gone',
    breaks: 'refuse: a user whose posts are gone or moved away',
    plan: {
      ...deleting((inner) => async (id, mode, guard) => {
        if (mode.posts === 'refuse' && former.has(id)) throw userHasPosts(1);
        return inner.delete(id, mode, guard);
      }),
      posts: (inner) => ({
        create: (record, claim) => {
          if (record.authorId) former.add(record.authorId);
          return inner.create(record, claim);
        },
      }),
    },
  },
  {
    fault: 'leaves the posts where they were to be deleted',
    breaks: 'delete: their posts are deleted too',
    plan: deleting(
      (inner) => (id, mode, guard) =>
        inner.delete(id, mode.posts === 'delete' ? release : mode, guard),
    ),
  },
  {
    fault: 'deletes posts without an author too',
    breaks: 'delete: their posts are deleted too, and nobody else’s',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      const deleted = await inner.delete(id, mode, guard);
      if (mode.posts === 'delete') {
        for (const { record } of await postsOf(store, null)) await store.posts.delete(record.id);
      }
      return deleted;
    }),
  },
  {
    fault: 'keeps posts at their version',
    breaks: 'keep: their posts stay without an author, each changed once',
    plan: {
      ...deleting((inner) => (id, mode, guard) => {
        if (mode.posts !== 'keep') return inner.delete(id, mode, guard);
        const noting = (current: Versioned<Post>) => {
          kept.set(current.record.id, current.version);
          return mode.release(current);
        };
        return inner.delete(id, { posts: 'keep', release: noting }, guard);
      }),
      posts: (inner) => ({
        get: async (id) => {
          const got = await inner.get(id);
          return got && { ...got, version: kept.get(id) ?? got.version };
        },
      }),
    },
  },
  {
    fault: 'deletes the posts that were to be kept',
    breaks: 'keep: their posts stay without an author',
    plan: deleting(
      (inner) => (id, mode, guard) =>
        inner.delete(id, mode.posts === 'keep' ? { posts: 'delete' } : mode, guard),
    ),
  },
  {
    fault: 'clears the author by itself and does not ask release',
    breaks: 'keep: release is shown each post',
    plan: deleting(
      (inner) => (id, mode, guard) =>
        inner.delete(id, mode.posts === 'keep' ? release : mode, guard),
    ),
  },
  {
    fault: 'releases posts one by one, and stops where one throws',
    breaks: 'keep: what release throws ends the call',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      if (mode.posts === 'keep') {
        for (const { record } of await postsOf(store, id)) {
          await store.posts.update(record.id, mode.release);
        }
      }
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'deletes only users who have posts',
    breaks: 'delete: a user without posts is deleted',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      const theirs = await postsOf(store, id);
      return mode.posts === 'delete' && theirs.length === 0 ? true : inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'deletes somebody’s posts when nobody has the id',
    breaks: 'delete: no user, false, and nothing is changed',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      if (mode.posts === 'delete' && (await inner.get(id)) === undefined) {
        const order = { by: 'createdAt', direction: 'asc' } as const;
        const { items } = await store.posts.list({}, { order, limit: 10 });
        for (const { record } of items) await store.posts.delete(record.id);
      }
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'deletes nobody unless it is told what becomes of the posts',
    breaks: 'refuse: a user without posts is deleted',
    plan: deleting((inner) => async (id, mode, guard) => {
      if (mode.posts === 'refuse') throw userHasPosts(0);
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'takes a user who is not there for one who has posts',
    breaks: 'refuse: no user, false, and nothing is changed',
    plan: deleting((inner) => async (id, mode, guard) => {
      if ((await inner.get(id)) === undefined) throw userHasPosts(1);
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'says that it deleted a user who is not there',
    breaks: 'keep: no user, false, and nothing is changed',
    plan: deleting((inner) => async (...args) => {
      await inner.delete(...args);
      return true;
    }),
  },
  {
    fault: 'lets posts name a user who was deleted without any',
    breaks: 'refuse: a deleted user can be named no more',
    plan: deleting((inner) => async (id, mode, guard) => {
      if (mode.posts === 'refuse') return (await inner.get(id)) !== undefined;
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'takes a hundred posts for all',
    breaks: 'delete: a user may have hundreds of posts',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      const theirs = await postsOf(store, id);
      const deleted = await inner.delete(id, mode, guard);
      for (const { record } of theirs.slice(100)) {
        await store.posts.create({ ...record, authorId: null });
      }
      return deleted;
    }),
  },
  {
    fault: 'keeps a hundred posts and loses the others',
    breaks: 'keep: a user may have hundreds of posts',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      const theirs = await postsOf(store, id);
      const deleted = await inner.delete(id, mode, guard);
      for (const { record } of theirs.slice(100)) await store.posts.delete(record.id);
      return deleted;
    }),
  },
  {
    fault: 'looks at the posts before it asks the guard',
    breaks: 'refuse: the guard is asked before the posts',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      const theirs = await postsOf(store, id);
      if (mode.posts === 'refuse' && theirs.length > 0) throw userHasPosts(theirs.length);
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'deletes the posts before it asks the guard',
    breaks: 'delete: the guard is asked before the posts',
    plan: deleting((inner, store) => async (id, mode, guard) => {
      if (mode.posts === 'delete') {
        for (const { record } of await postsOf(store, id)) await store.posts.delete(record.id);
      }
      return inner.delete(id, mode, guard);
    }),
  },
  {
    fault: 'lets posts name a user who was deleted while posts were kept',
    breaks: 'keep: a deleted user can be named no more',
    plan: deleting((inner) => async (id, mode, guard) => {
      if (mode.posts === 'keep') return (await inner.get(id)) !== undefined;
      return inner.delete(id, mode, guard);
    }),
  },
];

// Ids are never used twice by the fixtures, so that these can be shared by all stores.
const former = new Set<Id>();
const kept = new Map<Id, number>();

const release = {
  posts: 'keep',
  release: ({ record }: Versioned<Post>): Post => ({ ...record, authorId: null }),
} as const;

type Delete = UserRepository['delete'];

function deleting(change: (inner: UserRepository, store: Store) => Delete): Plan {
  return { users: (inner, store) => ({ delete: change(inner, store) }) };
}

async function postsOf({ posts }: Store, authorId: Id | null) {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  return (await posts.list({ authorId }, { order, limit: 1000 })).items;
}
