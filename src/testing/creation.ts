import assert from 'node:assert/strict';
import type { Post } from '../domain/post.ts';
import { makes, raises, raisesIdTaken, same } from './assertions.ts';
import { later, post, receipt, user } from './fixtures.ts';
import { put } from './lists.ts';
import type { Suite } from './suite.ts';

/** A new record. */
export function describeCreation({ test, both }: Suite): void {
  both('a new record is at version 1 and was not replayed', async ({ records, make }) => {
    for (const key of [undefined, receipt()]) {
      await makes(records, make(), key);
    }
  });

  both('a taken id is refused, and the record that has it stays', async ({ records, make }) => {
    const first = make();
    await records.create(first);
    const call = records.create(make({ id: first.id }));
    assert.deepEqual(await raises(call, 'id-taken'), { id: first.id });
    same(await records.get(first.id), first);
  });

  both('the id of a deleted record stays taken', async ({ records, make, remove }) => {
    const [first, other] = [make(), make()];
    assert.equal(await records.isIdTaken(first.id), false);
    await put(records, [first, other]);
    assert.equal(await records.isIdTaken(first.id), true);
    await remove(first.id);
    assert.equal(await records.isIdTaken(first.id), true);
    const call = records.create(make({ id: first.id }));
    assert.deepEqual(await raises(call, 'id-taken'), { id: first.id });
    assert.equal(await records.get(first.id), undefined);
    for (const id of ['none', '', '\0', '\ud800', '__proto__']) {
      assert.equal(await records.isIdTaken(id), false);
    }
    await remove(other.id);
    await raisesIdTaken(records.create(make({ id: other.id }), receipt()));
  });

  test('the id of a post that went with its author stays taken', async ({ users, posts }) => {
    const author = user();
    const theirs = [post({ authorId: author.id }), post({ authorId: author.id })];
    await put(users, [author]);
    await posts.create(theirs[0] as Post, receipt());
    await posts.create(theirs[1] as Post);
    await users.delete(author.id, 'delete', later);
    for (const { id } of theirs) await raisesIdTaken(posts.create(post({ id })));
  });

  test('a user and a post may have the same id', async ({ users, posts }) => {
    const [author, record] = [user({ id: 'same' }), post({ id: 'same' })];
    await users.create(author);
    await posts.create(record);
    same(await users.get('same'), author);
    same(await posts.get('same'), record);
  });

  test('a taken id is told before a taken email and an unknown author', async ({
    users,
    posts,
  }) => {
    const [first, record] = [user(), post()];
    await users.create(first);
    await posts.create(record);
    await raisesIdTaken(users.create(user({ id: first.id, email: first.email })));
    await raisesIdTaken(posts.create(post({ id: record.id, authorId: 'nobody' })));
  });
}
