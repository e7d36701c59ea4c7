import assert from 'node:assert/strict';
import { isRostrumError } from '../domain/errors.ts';
import type { Post } from '../domain/post.ts';
import type { Store } from '../ports/store.ts';
import type { PostsOfDeleted } from '../ports/user-repository.ts';
import { raisesUnknownAuthor } from './assertions.ts';
import { times } from './fixtures.ts';
import { walk } from './walk.ts';

export interface Outcome<T> {
  readonly deleted: boolean;
  /** What each write returned; undefined where it was refused. */
  readonly returned: readonly (T | undefined)[];
}

/** Races four writes against one deletion; how they interleave differs from round to round. */
export async function against<T>(
  { users }: Store,
  authorId: string,
  mode: PostsOfDeleted,
  round: number,
  write: (n: number) => Promise<T>,
): Promise<Outcome<T>> {
  const deletion = async () => {
    await turns((round >> 1) % 4);
    return users.delete(authorId, mode);
  };
  const writes = async () =>
    Promise.allSettled(
      times(4, async (n) => {
        await turns(n * (round % 3));
        return write(n);
      }),
    );
  // Who sets out first takes turns.
  const early = round % 2 === 0 ? undefined : deletion();
  const writing = writes();
  const [deleting] = await Promise.allSettled([early ?? deletion()]);
  const results = await writing;

  if (deleting.status === 'rejected') {
    const { reason } = deleting;
    assert.ok(isRostrumError(reason, 'user-has-posts'), `the deletion raised ${reason}`);
  }
  for (const result of results) {
    if (result.status === 'rejected') await raisesUnknownAuthor(Promise.reject(result.reason));
  }
  return {
    deleted: deleting.status === 'fulfilled' && deleting.value,
    returned: results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)),
  };
}

/** Holds what is left to what was acknowledged: some order of the calls has to explain it. */
export async function judge(
  { users, posts }: Store,
  authorId: string,
  mode: PostsOfDeleted,
  { deleted, returned }: Outcome<unknown>,
  records: readonly Post[],
  before: readonly Post[] | undefined,
): Promise<void> {
  assert.equal((await users.get(authorId)) === undefined, deleted, 'the user is as was told');
  if (mode.posts !== 'refuse') assert.ok(deleted, 'nothing could be in the way of the deletion');
  for (const [n, record] of records.entries()) {
    const left = (await posts.get(record.id))?.record;
    if (returned[n] === undefined) {
      assert.ok(deleted, 'a post was refused though its author was there all the while');
      assert.deepEqual(left, before?.[n], 'a refused write left something');
    } else if (!deleted) {
      assert.equal(left?.authorId, authorId);
    } else {
      assert.notEqual(mode.posts, 'refuse', 'a user was deleted though posts were in the way');
      if (mode.posts === 'delete') assert.equal(left, undefined, 'a deleted user’s post is left');
      else assert.equal(left?.authorId, null, 'a kept post still names its author, or is gone');
    }
  }
}

export async function noOrphan({ users, posts }: Store): Promise<void> {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const known = new Set((await walk(users, { filter: {}, order })).map(({ id }) => id));
  for (const { id, authorId } of await walk(posts, { filter: {}, order })) {
    assert.ok(authorId === null || known.has(authorId), `the post ${id} is an orphan`);
  }
}

/** Lets others go first: some turns of the microtask queue, and of the event loop now and then. */
export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await undefined;
  if (count % 5 === 4) await new Promise((resolve) => setTimeout(resolve, 1));
}
