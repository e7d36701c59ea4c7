import assert from 'node:assert/strict';
import { raisesUnknownAuthor } from './assertions.ts';
import { post, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** No post names an author who does not exist. */
export function describeAuthors({ group, test }: Suite): void {
  group('authors', () => {
    test('a post may name a user who exists, or nobody', async ({ users, posts }) => {
      const author = user();
      await users.create(author);
      for (const record of [post({ authorId: author.id }), post({ authorId: null })]) {
        await posts.create(record);
        assert.deepEqual((await posts.get(record.id))?.record, record);
      }
    });

    test('a new post that names an unknown author is refused', async ({ posts }) => {
      for (const authorId of ['nobody', '', '__proto__', 'x'.repeat(1000)]) {
        const record = post({ authorId });
        await raisesUnknownAuthor(posts.create(record));
        assert.equal(await posts.get(record.id), undefined);
      }
    });

    test('an author is named by the exact id', async ({ users, posts }) => {
      await users.create(user({ id: 'Ada' }));
      for (const authorId of ['ada', 'ADA', 'Ada ', 'Ad']) {
        await raisesUnknownAuthor(posts.create(post({ authorId })));
      }
    });

    test('a post is no author', async ({ posts }) => {
      const first = post();
      await posts.create(first);
      await raisesUnknownAuthor(posts.create(post({ authorId: first.id })));
    });

    test('a deleted user is no author', async ({ users, posts }) => {
      const [author, record] = [user(), post()];
      await users.create(author);
      await posts.create(record);
      await users.delete(author.id, { posts: 'refuse' });
      await raisesUnknownAuthor(posts.create(post({ authorId: author.id })));
      await raisesUnknownAuthor(
        posts.update(record.id, (c) => ({ ...c.record, authorId: author.id })),
      );
    });

    test('a change to an unknown author is refused, and nothing is written', async ({
      users,
      posts,
    }) => {
      const author = user();
      await users.create(author);
      for (const record of [post(), post({ authorId: author.id })]) {
        await posts.create(record);
        const move = posts.update(record.id, (c) => ({ ...c.record, n: 1, authorId: 'nobody' }));
        await raisesUnknownAuthor(move);
        assert.deepEqual(await posts.get(record.id), { record, version: 1 });
      }
    });

    test('a post may move from author to author, to nobody and back', async ({ users, posts }) => {
      const [one, two, record] = [user(), user(), post()];
      await users.create(one);
      await users.create(two);
      await posts.create(record);
      let version = 1;
      for (const authorId of [one.id, two.id, null, two.id, one.id]) {
        const stored = { record: { ...record, authorId }, version: ++version };
        assert.deepEqual(await posts.update(record.id, () => stored.record), stored);
        assert.deepEqual(await posts.get(record.id), stored);
      }
    });

    test('a post may be changed and keep its author', async ({ users, posts }) => {
      const author = user();
      await users.create(author);
      const record = post({ authorId: author.id });
      await posts.create(record);
      const stored = { record: { ...record, title: 'Other' }, version: 2 };
      assert.deepEqual(await posts.update(record.id, () => stored.record), stored);
    });
  });
}
