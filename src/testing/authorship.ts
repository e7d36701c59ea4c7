import assert from 'node:assert/strict';
import { type Post, withoutAuthor } from '../domain/post.ts';
import type { User } from '../domain/user.ts';
import type { Store } from '../ports/store.ts';
import type { PostsOfDeleted } from '../ports/user-repository.ts';
import { at, post, times, user } from './fixtures.ts';

export const later = at(1_000_000);
export const refuse: PostsOfDeleted = { posts: 'refuse' };
export const cascade: PostsOfDeleted = { posts: 'delete' };
export const keep: PostsOfDeleted = {
  posts: 'keep',
  release: ({ record }) => withoutAuthor(record, later),
};
export const everyMode = [refuse, cascade, keep];

/** A user with so many posts, and posts that are not theirs. */
export async function authorWith(count: number, store: Store) {
  const [author, colleague] = [user(), user()];
  const theirs = times(count, () => post({ authorId: author.id }));
  const others = [post({ authorId: colleague.id }), post()];
  await store.users.create(author);
  await store.users.create(colleague);
  await Promise.all([...theirs, ...others].map((record) => store.posts.create(record)));
  return { author, theirs, others };
}

export async function unchanged(
  store: Store,
  author: User,
  theirs: readonly Post[],
): Promise<void> {
  assert.deepEqual(await store.users.get(author.id), { record: author, version: 1 });
  for (const record of theirs) {
    assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
  }
}
