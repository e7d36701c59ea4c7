import assert from 'node:assert/strict';
import { raisesUnknownAuthor, same } from './assertions.ts';
import { later, post, user } from './fixtures.ts';
import { put } from './lists.ts';
import type { Suite } from './suite.ts';

/** No post names an author who does not exist. */
export function describeAuthors({ test }: Suite): void {
  test('a new post that names an unknown author is refused', async ({ posts }) => {
    for (const authorId of ['nobody', '', '__proto__', 'x'.repeat(1000)]) {
      const record = post({ authorId });
      await raisesUnknownAuthor(posts.create(record));
      assert.equal(await posts.get(record.id), undefined);
    }
  });

  test('an author is named by the exact id, and a post is no author', async ({ users, posts }) => {
    await put(users, [user({ id: 'Ada' })]);
    const [id = ''] = await put(posts, [post()]);
    for (const authorId of ['ada', 'ADA', 'Ada ', 'Ad', id]) {
      await raisesUnknownAuthor(posts.create(post({ authorId })));
    }
  });

  for (const mode of ['refuse', 'delete', 'keep'] as const) {
    test(`${mode}: a deleted user is no author`, async ({ users, posts }) => {
      const [author, record] = [user(), post()];
      await put(users, [author]);
      await put(posts, [record]);
      await users.delete(author.id, mode, later);
      await raisesUnknownAuthor(posts.create(post({ authorId: author.id })));
      const move = posts.update(record.id, (c) => ({ ...c.record, authorId: author.id }));
      await raisesUnknownAuthor(move);
    });
  }

  test('a change to an unknown author is refused and not written', async ({ users, posts }) => {
    const author = user();
    await put(users, [author]);
    for (const record of [post(), post({ authorId: author.id })]) {
      await put(posts, [record]);
      const move = posts.update(record.id, (c) => ({ ...c.record, n: 1, authorId: 'nobody' }));
      await raisesUnknownAuthor(move);
      same(await posts.get(record.id), record);
    }
  });

  test('a post may move from author to author, to nobody and back', async ({ users, posts }) => {
    const [one, two, record] = [user(), user(), post()];
    await put(users, [one, two]);
    await put(posts, [record]);
    let version = 1;
    for (const authorId of [one.id, two.id, null, two.id, two.id, one.id]) {
      const moved = { ...record, authorId, title: `Version ${++version}` };
      same(await posts.update(record.id, () => moved), moved, version);
      same(await posts.get(record.id), moved, version);
    }
  });
}
