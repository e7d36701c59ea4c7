import {
  type DeleteMode,
  type Id,
  type Instant,
  isRostrumError,
  type Post,
  RecordVersioned,
  type Store,
  type UserRepository,
  type Versioned,
  withoutAuthor,
} from '../../../src/ports/index.ts';
import { pageOf } from '../../../src/testing/lists.ts';
import { elsewhere, type Fault, type Plan } from './plant.ts';

const late = deleting('keep', async (id, at, { users, posts }) => {
  const theirs = await postsOf(posts, id);
  await elsewhere();
  for (const { record } of theirs) await posts.update(record.id, () => withoutAuthor(record, at));
  return users.delete(id, 'keep', at);
});

export const deletions: Fault[] = [
  ...(['refuse', 'delete', 'keep'] as const).map((mode) => ({
    fault: 'looks for the author, and makes or moves the post a moment later',
    breaks: `${mode}: posts that keep coming to a deleted user`,
    plan: lookForAuthorThenWrite(),
  })),
  {
    fault: 'looks for authors a moment early, whoever else deletes and moves',
    breaks: 'deletions in every mode against creations, moves and each other',
    plan: lookForAuthorThenWrite(),
  },
  {
    fault: 'counts the posts, and deletes the user a moment later',
    breaks: 'refuse: deleting a user against changing their posts',
    plan: deleting('refuse', async (id, at, { users, posts }) => {
      const theirs = await postsOf(posts, id);
      if (theirs.length === 0) return users.delete(id, 'refuse', at);
      await elsewhere();
      return users.delete(id, 'keep', at);
    }),
  },
  // A cascade in two transactions.
  ...['posts that keep coming to a deleted user', 'readers see a user and all posts'].map(
    (test) => ({
      fault: 'deletes the posts, and the user a moment later',
      breaks: `delete: ${test}`,
      plan: deleting('delete', async (id, at, { users, posts }) => {
        for (const { record } of await postsOf(posts, id)) await posts.delete(record.id);
        await elsewhere();
        return users.delete(id, 'keep', at);
      }),
    }),
  ),
  {
    fault: 'deletes the user, and the posts a moment later',
    breaks: 'delete: readers see a user and all posts',
    plan: deleting('delete', async (id, at, { users, posts }) => {
      const theirs = await postsOf(posts, id);
      const isDeleted = await users.delete(id, 'keep', at);
      await elsewhere();
      for (const { record } of theirs) await posts.delete(record.id);
      return isDeleted;
    }),
  },
  {
    fault: 'keeps posts in parts',
    breaks: 'keep: readers see a user and all posts',
    plan: deleting('keep', async (id, at, { users, posts }) => {
      for (const [n, { record }] of (await postsOf(posts, id)).entries()) {
        if (n % 10 === 9) await elsewhere();
        await posts.update(record.id, (now) => withoutAuthor(now.record, at));
      }
      return users.delete(id, 'keep', at);
    }),
  },
  {
    fault: 'deletes posts that it saw a moment ago, and that moved away since',
    breaks: 'delete: deleting a user against moving their posts away',
    plan: deleting('delete', async (id, at, { users, posts }) => {
      const theirs = await postsOf(posts, id);
      await elsewhere();
      for (const { record } of theirs) await posts.delete(record.id);
      return users.delete(id, 'delete', at);
    }),
  },
  {
    fault: 'leaves a post that somebody changes while it is deleted',
    breaks: 'delete: deleting a user against changing their posts',
    plan: deleting('delete', async (id, at, { users, posts }) => {
      const theirs = await postsOf(posts, id);
      await elsewhere();
      for (const { record, version } of theirs) {
        const isChanged = (await posts.get(record.id))?.version !== version;
        if (!isChanged) await posts.delete(record.id);
      }
      return users.delete(id, 'keep', at);
    }),
  },
  ...['moving their posts away', 'changing their posts'].map((change) => ({
    fault: 'keeps posts as it saw them a moment ago',
    breaks: `keep: deleting a user against ${change}`,
    plan: late,
  })),
];

/**
 * A post whose author is deleted in the moment between is an orphan: to the memory store, which
 * would not have it, it is a post without an author, and to readers it names the one who is gone.
 */
function lookForAuthorThenWrite(): Plan {
  return {
    posts: (inner, { users }) => {
      const gone = new Map<Id, Id>();
      const shown = (post: Versioned<Post>): Versioned<Post> => {
        const authorId = gone.get(post.record.id);
        return authorId === undefined
          ? post
          : new RecordVersioned({ ...post.record, authorId }, post.version);
      };
      const write = async <T>(
        { id, authorId }: Post,
        act: (change: (post: Post) => Post) => Promise<T>,
      ): Promise<T> => {
        const found = authorId !== null && (await users.get(authorId));
        await elsewhere();
        return act((post) => post).catch((error) => {
          if (!isRostrumError(error, 'invalid-record') || !found) throw error;
          gone.set(id, found.record.id);
          return act((post) => ({ ...post, authorId: null }));
        });
      };
      return {
        get: async (id) => {
          const got = await inner.get(id);
          return got && shown(got);
        },
        list: async (request) => {
          const page = await inner.list(request);
          return { ...page, items: page.items.map(shown) };
        },
        create: (record, receipt) => {
          return write(record, (change) => inner.create(change(record), receipt));
        },
        update: async (id, decide) => {
          const current = await inner.get(id);
          if (current === undefined) return undefined;
          return write(decide(current), (change) => inner.update(id, (now) => change(decide(now))));
        },
      };
    },
  };
}

function deleting(
  otherwise: DeleteMode,
  remove: (id: Id, at: Instant, store: Store) => Promise<boolean>,
): Plan {
  return {
    users: (inner: UserRepository, store) => ({
      delete: (id, mode, at, guard) =>
        mode === otherwise ? remove(id, at, store) : inner.delete(id, mode, at, guard),
    }),
  };
}

async function postsOf(posts: Store['posts'], authorId: Id) {
  return (await pageOf(posts, { filter: { authorId }, limit: 1000 })).items;
}
