import assert from 'node:assert/strict';
import { isRostrumError } from '../../domain/errors.ts';
import { type Post, withoutAuthor } from '../../domain/post.ts';
import type { Store } from '../store.ts';
import type { PostsOfDeleted } from '../user-repository.ts';
import { raisesUnknownAuthor } from './assertions.ts';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { walk } from './walk.ts';

const rounds = 12;
const modes: readonly PostsOfDeleted[] = [
  { posts: 'refuse' },
  { posts: 'delete' },
  { posts: 'keep', release: ({ record }) => withoutAuthor(record, at(1_000_000)) },
];

/** Deletions of a user against posts that are to name the user: no orphan, ever. */
export function describeOrphanRaces({ group, test }: Suite): void {
  group('orphan races', () => {
    for (const mode of modes) {
      test(`${mode.posts}: deleting a user against creating their posts leaves no orphan`, async (store) => {
        for (let round = 0; round < rounds; round++) {
          const author = user();
          await store.users.create(author);
          const records = times(4, () => post({ authorId: author.id }));
          const outcome = await against(store, author.id, mode, round, (n) =>
            store.posts.create(records[n] as Post),
          );
          await judge(store, author.id, mode, outcome, records, undefined);
        }
        await noOrphan(store);
      });

      test(`${mode.posts}: deleting a user against moving posts to them leaves no orphan`, async (store) => {
        const former = user();
        await store.users.create(former);
        for (let round = 0; round < rounds; round++) {
          const author = user();
          await store.users.create(author);
          const records = times(4, (n) => post({ authorId: n % 2 ? former.id : null }));
          await Promise.all(records.map((record) => store.posts.create(record)));
          const outcome = await against(store, author.id, mode, round, (n) =>
            store.posts.update(records[n]?.id ?? '', ({ record }) => ({
              ...record,
              authorId: author.id,
            })),
          );
          await judge(store, author.id, mode, outcome, records, records);
        }
        await noOrphan(store);
      });
    }

    test('deletions in every mode against creations, moves and each other', async (store) => {
      for (let round = 0; round < rounds; round++) {
        const [author, other] = [user(), user()];
        await store.users.create(author);
        await store.users.create(other);
        const movers = times(4, (n) => post({ authorId: n % 2 ? other.id : author.id }));
        await Promise.all(movers.map((record) => store.posts.create(record)));
        const writes = times(12, async (n) => {
          await turns((n * 5 + round) % 7);
          const target = n % 2 ? author.id : other.id;
          if (n % 3 === 0) return store.posts.create(post({ authorId: target }));
          if (n % 3 === 1)
            return store.users.delete(target, modes[(n + round) % 3] ?? { posts: 'refuse' });
          const id = movers[n % 4]?.id ?? '';
          return store.posts.update(id, ({ record }) => ({ ...record, authorId: target }));
        });
        for (const result of await Promise.allSettled(writes)) {
          if (result.status === 'fulfilled' || isRostrumError(result.reason, 'user-has-posts'))
            continue;
          await raisesUnknownAuthor(Promise.reject(result.reason));
        }
        await noOrphan(store);
      }
    });
  });
}

interface Outcome {
  readonly deleted: boolean;
  /** For each write, whether it was acknowledged. */
  readonly written: readonly boolean[];
}

/** Races four writes against one deletion; how they interleave differs from round to round. */
async function against(
  { users }: Store,
  authorId: string,
  mode: PostsOfDeleted,
  round: number,
  write: (n: number) => Promise<unknown>,
): Promise<Outcome> {
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
    written: results.map(({ status }) => status === 'fulfilled'),
  };
}

/** Holds what is left to what was acknowledged: some order of the calls has to explain it. */
async function judge(
  { users, posts }: Store,
  authorId: string,
  mode: PostsOfDeleted,
  { deleted, written }: Outcome,
  records: readonly Post[],
  before: readonly Post[] | undefined,
): Promise<void> {
  assert.equal((await users.get(authorId)) === undefined, deleted, 'the user is as was told');
  if (mode.posts !== 'refuse') assert.ok(deleted, 'nothing could be in the way of the deletion');
  for (const [n, record] of records.entries()) {
    const left = (await posts.get(record.id))?.record;
    if (!written[n]) {
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

async function noOrphan({ users, posts }: Store): Promise<void> {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const known = new Set((await walk(users, { filter: {}, order })).map(({ id }) => id));
  for (const { id, authorId } of await walk(posts, { filter: {}, order })) {
    assert.ok(authorId === null || known.has(authorId), `the post ${id} is an orphan`);
  }
}

/** Lets others go first: some turns of the microtask queue, and of the event loop now and then. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await undefined;
  if (count % 5 === 4) await new Promise((resolve) => setTimeout(resolve, 1));
}
