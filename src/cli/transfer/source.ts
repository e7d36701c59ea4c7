import { newestFirst } from '../../domain/page.ts';
import type { Post } from '../../domain/post.ts';
import type { Entity } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Store } from '../../ports/store.ts';
import type { Progress } from './progress.ts';
import { type Tally, Tallying } from './tally.ts';
import { type Batch, walk } from './walk.ts';

/** Where records are read from, as often as need be. */
export interface Source {
  count(): Promise<{ readonly users: number; readonly posts: number }>;
  /** All users, by id. */
  users(): AsyncIterable<Batch<User>>;
  /** All posts, by id. */
  posts(): AsyncIterable<Batch<Post>>;
}

export function storeSource({ users, posts }: Store, signal: AbortSignal): Source {
  const one = { order: newestFirst, limit: 1, total: true } as const;
  return {
    count: async () => ({
      users: (await users.list({}, one)).total ?? 0,
      posts: (await posts.list({}, one)).total ?? 0,
    }),
    users: () => walk(users, signal),
    posts: () => walk(posts, signal),
  };
}

/** Reads all and sums it up. */
export async function tallyOf(source: Source, what: string, progress: Progress): Promise<Tally> {
  const { users, posts } = await source.count();
  const tallying = new Tallying();
  const add = async (kind: 'users' | 'posts', batches: AsyncIterable<Batch<Entity>>) => {
    for await (const batch of batches) {
      tallying.add(kind, batch);
      progress.advance(batch.length);
    }
  };
  progress.begin(what, users + posts);
  await add('users', source.users());
  await add('posts', source.posts());
  progress.end();
  return tallying.end();
}
