import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Post } from '../../../src/domain/post.ts';
import type { Id, Versioned } from '../../../src/domain/record.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { UserRepository } from '../../../src/ports/user-repository.ts';
import { elsewhere, type Fault, type Plan } from './plant.ts';

export const orphanRaces: Fault[] = [
  ...(['refuse', 'delete', 'keep'] as const).flatMap((mode): Fault[] => [
    {
      fault: `looks for the author, and makes the post a moment later (${mode})`,
      breaks: `${mode}: deleting a user against creating their posts`,
      plan: lookThenWrite(),
    },
    {
      fault: `looks for the author, and moves the post a moment later (${mode})`,
      breaks: `${mode}: deleting a user against moving posts to them`,
      plan: lookThenWrite(),
    },
    {
      fault: `looks for the author, and loads the post a moment later (${mode})`,
      breaks: `${mode}: deleting a user against loading their posts`,
      plan: lookThenWrite(),
    },
  ]),
  {
    fault: 'counts the posts, and deletes the user a moment later',
    breaks: 'refuse: deleting a user against creating their posts',
    plan: deletingUsers(async (id, { posts }, inner, store) => {
      const theirs = await postsOf(store, id);
      if (posts === 'refuse' && theirs.length === 0) {
        await elsewhere();
        return inner.delete(id, { posts: 'delete' });
      }
      return undefined;
    }),
  },
  {
    fault: 'deletes the posts, and the user a moment later',
    breaks: 'delete: deleting a user against moving posts to them',
    plan: deletingUsers(async (id, { posts }, inner, store) => {
      if (posts !== 'delete') return undefined;
      for (const { record } of await postsOf(store, id)) await store.posts.delete(record.id);
      await elsewhere();
      return inner.delete(id, { posts: 'keep', release });
    }),
  },
  {
    fault: 'looks for authors a moment early, whoever else deletes and moves',
    breaks: 'deletions in every mode against creations, moves and each other',
    plan: lookThenWrite(),
  },
  {
    fault: 'deletes posts that it saw a moment ago, and that moved away since',
    breaks: 'delete: deleting a user against moving their posts away',
    plan: deletingUsers(async (id, { posts }, inner, store) => {
      if (posts !== 'delete') return undefined;
      const theirs = await postsOf(store, id);
      await elsewhere();
      for (const { record } of theirs) await store.posts.delete(record.id);
      return inner.delete(id, { posts });
    }),
  },
  {
    fault: 'leaves a post that somebody changes while it is deleted',
    breaks: 'delete: deleting a user against changing their posts',
    plan: deletingUsers(async (id, { posts }, inner, store) => {
      if (posts !== 'delete') return undefined;
      const theirs = await postsOf(store, id);
      await elsewhere();
      for (const { record, version } of theirs) {
        const changed = (await store.posts.get(record.id))?.version !== version;
        if (!changed) await store.posts.delete(record.id);
      }
      return inner.delete(id, { posts: 'keep', release });
    }),
  },
  {
    fault: 'releases posts as it saw them a moment ago, over a change',
    breaks: 'keep: deleting a user against changing their posts',
    plan: releaseLate(),
  },
  {
    fault: 'releases posts as it saw them a moment ago, over a move',
    breaks: 'keep: deleting a user against moving their posts away',
    plan: releaseLate(),
  },
  ...['moving their posts away', 'changing their posts'].map(
    (change): Fault => ({
      fault: `holds posts back while it looks whether there are any, against ${change}`,
      breaks: `refuse: deleting a user against ${change}`,
      plan: {
        posts: (inner) => ({
          // A post that is looked at cannot be changed, and the change is lost without a word.
          update: async (id, decide) => {
            const stored = await inner.update(id, ({ record }) => record);
            await elsewhere();
            return stored && { record: decide(stored), version: stored.version + 1 };
          },
        }),
      },
    }),
  ),
];

/**
 * A post whose author is deleted in the moment between is an orphan: to the memory store, which
 * would not have it, it is a post without an author, and to readers it names the one who is gone.
 */
function lookThenWrite(): Plan {
  return {
    posts: (inner, { users }) => {
      const orphans = new Map<Id, Id>();
      const shown = ({ record, version }: Versioned<Post>): Versioned<Post> => ({
        record: { ...record, authorId: orphans.get(record.id) ?? record.authorId },
        version,
      });
      const isOrphan = (error: unknown) => isRostrumError(error, 'invalid-record');
      return {
        get: async (id) => {
          const got = await inner.get(id);
          return got && shown(got);
        },
        list: async (filter, page) => {
          const got = await inner.list(filter, page);
          return { ...got, items: got.items.map(shown) };
        },
        create: async (record, claim) => {
          const found = record.authorId && (await users.get(record.authorId));
          await elsewhere();
          return inner.create(record, claim).catch((error) => {
            if (!isOrphan(error) || !found) throw error;
            orphans.set(record.id, found.record.id);
            return inner.create({ ...record, authorId: null }, claim);
          });
        },
        load: async (records) => {
          for (const { record, version } of records) {
            const found = record.authorId && (await users.get(record.authorId));
            await elsewhere();
            await inner.load([{ record, version }]).catch((error) => {
              if (!isOrphan(error) || !found) throw error;
              orphans.set(record.id, found.record.id);
              return inner.load([{ record: { ...record, authorId: null }, version }]);
            });
          }
        },
        update: async (id, decide) => {
          const current = await inner.get(id);
          const authorId = current && decide(current).authorId;
          const found = authorId && (await users.get(authorId));
          await elsewhere();
          return inner.update(id, decide).catch((error) => {
            if (!isOrphan(error) || !found) throw error;
            orphans.set(id, found.record.id);
            return inner.update(id, (now) => ({ ...decide(now), authorId: null }));
          });
        },
      };
    },
  };
}

function releaseLate(): Plan {
  return deletingUsers(async (id, mode, inner, store) => {
    if (mode.posts !== 'keep') return undefined;
    const theirs = await postsOf(store, id);
    await elsewhere();
    for (const current of theirs) {
      await store.posts.update(current.record.id, () => mode.release(current));
    }
    return inner.delete(id, mode);
  });
}

type Mode = Parameters<UserRepository['delete']>[1];

function deletingUsers(
  otherwise: (
    id: Id,
    mode: Mode,
    inner: UserRepository,
    store: Store,
  ) => Promise<boolean | undefined>,
): Plan {
  return {
    users: (inner, store) => ({
      delete: async (id, mode, guard) =>
        (await otherwise(id, mode, inner, store)) ?? inner.delete(id, mode, guard),
    }),
  };
}

function release({ record }: Versioned<Post>): Post {
  return { ...record, authorId: null };
}

async function postsOf({ posts }: Store, authorId: Id) {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  return (await posts.list({ authorId }, { order, limit: 1000 })).items;
}
