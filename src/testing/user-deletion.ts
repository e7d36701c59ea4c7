import assert from 'node:assert/strict';
import { type Post, withoutAuthor } from '../domain/post.ts';
import type { Versioned } from '../domain/record.ts';
import { raises, throwsThis } from './assertions.ts';
import { authorWith, cascade, keep, later, refuse, unchanged } from './authorship.ts';
import { describeEveryMode } from './deletion-modes.ts';
import { vandalize } from './mutation.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

/** The three ways to delete a user. */
export function describeUserDeletion(suite: Suite): void {
  const { group, test } = suite;
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
      const release = (current: Versioned<Post>) => {
        if (current.record.id !== last) return withoutAuthor(current.record, later);
        vandalize(current);
        throw refusal;
      };
      await throwsThis(store.users.delete(author.id, { posts: 'keep', release }), refusal);
      await unchanged(store, author, theirs);
    });

    for (const mode of [cascade, keep]) {
      test(`${mode.posts}: a user may have hundreds of posts`, async (store) => {
        const { author, theirs, others } = await authorWith(300, store);
        assert.equal(await store.users.delete(author.id, mode), true);
        const left = await walk(store.posts, { filter: {}, order });
        const expected = mode === keep ? [...theirs, ...others] : others;
        assert.deepEqual(new Set(idsOf(left)), new Set(idsOf(expected)));
        assert.ok(left.every(({ authorId }) => authorId !== author.id));
      });
    }

    describeEveryMode(suite);
  });
}
