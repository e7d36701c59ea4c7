import {
  type DeleteMode,
  type Id,
  type Instant,
  isRostrumError,
  type Post,
  type Store,
  type UserRepository,
  type Versioned,
  VersionedRecord,
  withoutAuthor,
} from '../../../src/ports/index.ts';
import { pageOf } from '../../../src/testing/lists.ts';
import { elsewhere, type Fault, type Plan } from './plant.ts';

export const deletions: Fault[] = [
  {
    fault: 'looks for authors a moment early, while others are deleted and posts move',
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
  {
    fault: 'does not tell how many posts went with their author',
    breaks: 'delete: their posts are deleted too',
    plan: deleting('delete', async (id, at, { users }) => {
      return (await users.delete(id, 'delete', at)) && { posts: 0 };
    }),
  },
  {
    fault: 'deletes the posts, and the user a moment later',
    breaks: 'delete: readers see a user and all posts',
    plan: deleting('delete', async (id, at, { users, posts }) => {
      for (const { record } of await postsOf(posts, id)) await posts.delete(record.id);
      await elsewhere();
      return users.delete(id, 'keep', at);
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
    fault: 'keeps posts as it saw them a moment ago',
    breaks: 'keep: deleting a user against moving their posts away',
    plan: deleting('keep', async (id, at, { users, posts }) => {
      const theirs = await postsOf(posts, id);
      await elsewhere();
      for (const { record } of theirs) {
        await posts.update(record.id, () => withoutAuthor(record, at));
      }
      return users.delete(id, 'keep', at);
    }),
  },
];

/**
 * A post whose author is deleted in the moment between is an orphan: to the memory store, which
 * would not have it, it is a post without an author, and to readers it names the deleted one.
 */
function lookForAuthorThenWrite(): Plan {
  return {
    posts: (inner, { users }) => {
      const gone = new Map<Id, Id>();
      const shown = (post: Versioned<Post>): Versioned<Post> => {
        const authorId = gone.get(post.record.id);
        return authorId === undefined
          ? post
          : new VersionedRecord({ ...post.record, authorId }, post.version);
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
  remove: (id: Id, at: Instant, store: Store) => ReturnType<UserRepository['delete']>,
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
