import assert from 'node:assert/strict';
import { withoutAuthor } from '../../domain/post.ts';
import type { Store } from '../store.ts';
import type { PostsOfDeleted } from '../user-repository.ts';
import { raises, raisesUnknownAuthor, throwsThis } from './assertions.ts';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

const later = at(1_000_000);
const refuse: PostsOfDeleted = { posts: 'refuse' };
const cascade: PostsOfDeleted = { posts: 'delete' };
const keep: PostsOfDeleted = {
  posts: 'keep',
  release: ({ record }) => withoutAuthor(record, later),
};
const everyMode = [refuse, cascade, keep];

/** The three ways to delete a user. */
export function describeUserDeletion({ group, test }: Suite): void {
  group('deletion of users', () => {
    test('refuse: a user who has posts stays, and their number is told', async (store) => {
      for (const count of [1, 3]) {
        const { author, theirs } = await authorWith(count, store);
        const { posts } = await raises(store.users.delete(author.id, refuse), 'user-has-posts');
        assert.equal(posts, count);
        assert.deepEqual(await store.users.get(author.id), { record: author, version: 1 });
        for (const record of theirs) {
          assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
        }
      }
    });

    test('refuse: a user whose posts are gone or moved away is deleted', async (store) => {
      const { author, theirs } = await authorWith(2, store);
      const [one = '', two = ''] = theirs.map(({ id }) => id);
      await store.posts.delete(one);
      await store.posts.update(two, ({ record }) => ({ ...record, authorId: null }));
      assert.equal(await store.users.delete(author.id, refuse), true);
      assert.equal(await store.users.get(author.id), undefined);
    });

    test('delete: their posts are deleted too, and nobody else’s', async (store) => {
      const { author, theirs, others } = await authorWith(3, store);
      assert.equal(await store.users.delete(author.id, cascade), true);
      assert.equal(await store.users.get(author.id), undefined);
      for (const { id } of theirs) assert.equal(await store.posts.get(id), undefined);
      for (const record of others) {
        assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
      }
    });

    test('keep: their posts stay without an author, each changed once', async (store) => {
      const { author, theirs, others } = await authorWith(3, store);
      await store.posts.update(theirs[0]?.id ?? '', ({ record }) => ({ ...record, n: 1 }));
      assert.equal(await store.users.delete(author.id, keep), true);
      assert.equal(await store.users.get(author.id), undefined);
      for (const [n, record] of theirs.entries()) {
        const before = n === 0 ? { ...record, n: 1 } : record;
        assert.deepEqual(await store.posts.get(record.id), {
          record: { ...before, authorId: null, updatedAt: later },
          version: n === 0 ? 3 : 2,
        });
      }
      for (const record of others) {
        assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
      }
    });

    test('keep: release is shown each post as it is stored, and decides all of it', async (store) => {
      const { author, theirs } = await authorWith(2, store);
      const shown = new Map<string, unknown>();
      await store.users.delete(author.id, {
        posts: 'keep',
        release: (current) => {
          shown.set(current.record.id, structuredClone(current));
          return { ...current.record, authorId: null, former: author.id, title: 'Kept' };
        },
      });
      assert.equal(shown.size, 2);
      for (const record of theirs) {
        assert.deepEqual(shown.get(record.id), { record, version: 1 });
        const kept = { ...record, authorId: null, former: author.id, title: 'Kept' };
        assert.deepEqual((await store.posts.get(record.id))?.record, kept);
      }
    });

    test('keep: what release throws ends the call and nothing is changed', async (store) => {
      const { author, theirs } = await authorWith(3, store);
      const refusal = new RangeError('no');
      const last = theirs.at(-1)?.id;
      const release: (typeof keep & { posts: 'keep' })['release'] = ({ record }) => {
        if (record.id === last) throw refusal;
        return withoutAuthor(record, later);
      };
      await throwsThis(store.users.delete(author.id, { posts: 'keep', release }), refusal);
      await unchanged(store, author, theirs);
    });

    for (const mode of everyMode) {
      test(`${mode.posts}: a user without posts is deleted`, async (store) => {
        const { author, others } = await authorWith(0, store);
        assert.equal(await store.users.delete(author.id, mode), true);
        assert.equal(await store.users.get(author.id), undefined);
        for (const record of others) {
          assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
        }
      });

      test(`${mode.posts}: no user, false, and nothing is changed`, async (store) => {
        const { author, theirs } = await authorWith(1, store);
        assert.equal(await store.users.delete('nobody', mode), false);
        await unchanged(store, author, theirs);
      });

      test(`${mode.posts}: the guard is asked before the posts, and what it throws changes nothing`, async (store) => {
        const { author, theirs } = await authorWith(2, store);
        const refusal = new RangeError('no');
        const guard = (): never => {
          throw refusal;
        };
        await throwsThis(store.users.delete(author.id, mode, guard), refusal);
        await unchanged(store, author, theirs);
      });

      test(`${mode.posts}: a deleted user can be named no more`, async (store) => {
        const { author, others } = await authorWith(0, store);
        await store.users.delete(author.id, mode);
        await raisesUnknownAuthor(store.posts.create(post({ authorId: author.id })));
        const [other] = others;
        const move = store.posts.update(other?.id ?? '', ({ record }) => ({
          ...record,
          authorId: author.id,
        }));
        await raisesUnknownAuthor(move);
      });
    }
  });
}

type User = ReturnType<typeof user>;
type Post = ReturnType<typeof post>;

/** A user with so many posts, and posts that are not theirs. */
async function authorWith(count: number, store: Store) {
  const [author, colleague] = [user(), user()];
  const theirs = times(count, () => post({ authorId: author.id }));
  const others = [post({ authorId: colleague.id }), post()];
  await store.users.create(author);
  await store.users.create(colleague);
  for (const record of [...theirs, ...others]) await store.posts.create(record);
  return { author, theirs, others };
}

async function unchanged(store: Store, author: User, theirs: readonly Post[]): Promise<void> {
  assert.deepEqual(await store.users.get(author.id), { record: author, version: 1 });
  for (const record of theirs) {
    assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
  }
}
