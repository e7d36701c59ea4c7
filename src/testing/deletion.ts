import assert from 'node:assert/strict';
import { earliestInstant, latestInstant, nextInstant } from '../domain/instant.ts';
import type { Post } from '../domain/post.ts';
import type { Store } from '../ports/store.ts';
import type { DeleteMode } from '../ports/user-repository.ts';
import { counts, raises, same, throwsItsError } from './assertions.ts';
import { later, post, times, user } from './fixtures.ts';
import { pageOf, put } from './lists.ts';
import type { Suite } from './suite.ts';

export const everyMode: readonly DeleteMode[] = ['refuse', 'delete', 'keep'];

/** A user with so many posts, and posts that are not theirs. */
export async function authorWith(count: number, { users, posts }: Store) {
  const [author, colleague] = [user(), user()];
  const theirs = times(count, () => post({ authorId: author.id }));
  const others = [post({ authorId: colleague.id }), post()];
  await put(users, [author, colleague]);
  await put(posts, [...theirs, ...others]);
  return { author, theirs, others };
}

/** What holds for the deletion of users and of posts. */
export function describeDeletion({ test, both }: Suite): void {
  both('what is deleted is gone, once', async ({ records, make, remove }) => {
    const [record, other] = [make(), make()];
    await put(records, [record, other]);
    assert.equal(await remove(record.id), true);
    assert.equal(await records.get(record.id), undefined);
    assert.equal(await remove(record.id), false);
    const page = await pageOf(records, { total: true });
    same(page.items[0], other);
    assert.deepEqual([page.items.length, page.total], [1, 1]);
  });

  both('an id that names nothing is false, and asks no guard', async (resource) => {
    const { records, make, remove } = resource;
    await put(records, [make({ id: '\ufffd' })]);
    for (const id of ['none', '', '\0', '\ud800', '__proto__']) {
      assert.equal(await remove(id), false);
      const guarded = remove(id, () => assert.fail('the guard was asked'));
      assert.equal(await guarded, false);
    }
  });

  both('a guard is shown what is stored, at its version', async ({ records, make, remove }) => {
    const record = make();
    await put(records, [record]);
    await records.update(record.id, (current) => ({ ...current.record, n: 1 }));
    let asked = 0;
    const deleted = await remove(record.id, (current) => {
      asked++;
      same(current, { ...record, n: 1 }, 2);
    });
    assert.equal(deleted, true);
    assert.notEqual(asked, 0, 'the guard was not asked');
  });

  both('what a guard throws ends the call', async ({ records, make, remove }) => {
    const record = make();
    await put(records, [record]);
    await throwsItsError((fail) => remove(record.id, fail));
    same(await records.get(record.id), record);
  });

  test('a deleted post leaves its author and the author’s other posts', async (store) => {
    const { author, theirs } = await authorWith(2, store);
    const [one, two] = theirs as [Post, Post];
    await store.posts.delete(one.id);
    same(await store.users.get(author.id), author);
    same(await store.posts.get(two.id), two);
  });
}

/** The three ways to delete a user. */
export function describeUserDeletion({ test }: Suite): void {
  test('refuse: a user who has posts stays, and their number is told', async (store) => {
    for (const count of [1, 3]) {
      const { author, theirs } = await authorWith(count, store);
      const call = store.users.delete(author.id, 'refuse', later);
      const { posts } = await raises(call, 'user-has-posts');
      counts('posts that were told', posts ?? 0, count);
      same(await store.users.get(author.id), author);
      await allThere(store, theirs);
    }
  });

  test('refuse: a user whose posts are gone or moved away is deleted', async (store) => {
    const { author, theirs } = await authorWith(2, store);
    const [one, two] = theirs as [Post, Post];
    await store.posts.delete(one.id);
    await store.posts.update(two.id, ({ record }) => ({ ...record, authorId: null }));
    assert.equal(await store.users.delete(author.id, 'refuse', later), true);
    assert.equal(await store.users.get(author.id), undefined);
  });

  test('delete: their posts are deleted too, and nobody else’s', async (store) => {
    const { author, theirs, others } = await authorWith(3, store);
    assert.equal(await store.users.delete(author.id, 'delete', later), true);
    assert.equal(await store.users.get(author.id), undefined);
    for (const { id } of theirs) assert.equal(await store.posts.get(id), undefined);
    await allThere(store, others);
  });

  test('keep: their posts stay without an author, each changed once', async (store) => {
    const { author, theirs, others } = await authorWith(3, store);
    const [first, ...rest] = theirs as [Post, ...Post[]];
    const changed = { ...first, own: { n: 1 } };
    await store.posts.update(first.id, () => changed);
    assert.equal(await store.users.delete(author.id, 'keep', later), true);
    assert.equal(await store.users.get(author.id), undefined);
    const kept = { authorId: null, updatedAt: later };
    same(await store.posts.get(first.id), { ...changed, ...kept }, 3);
    for (const record of rest) {
      same(await store.posts.get(record.id), { ...record, ...kept }, 2);
    }
    await allThere(store, others);
  });

  test('keep: updatedAt grows by 1 ms where the clock is behind', async ({ users, posts }) => {
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', later, latestInstant];
    for (const deletedAt of [earliestInstant, later]) {
      const author = user();
      const theirs = moments.map((updatedAt) => post({ authorId: author.id, updatedAt }));
      await put(users, [author]);
      await put(posts, theirs);
      await users.delete(author.id, 'keep', deletedAt);
      for (const record of theirs) {
        const updatedAt = nextInstant(record.updatedAt, deletedAt);
        const got = await posts.get(record.id);
        same(got, { ...record, authorId: null, updatedAt }, 2);
      }
    }
  });

  for (const mode of everyMode) {
    test(`${mode}: a user without posts is deleted`, async (store) => {
      const { author, others } = await authorWith(0, store);
      assert.equal(await store.users.delete(author.id, mode, later), true);
      assert.equal(await store.users.get(author.id), undefined);
      await allThere(store, others);
    });

    test(`${mode}: no user, false, and nothing is changed`, async (store) => {
      const { author, theirs } = await authorWith(1, store);
      assert.equal(await store.users.delete('nobody', mode, later), false);
      same(await store.users.get(author.id), author);
      await allThere(store, theirs);
    });

    test(`${mode}: the guard is asked before the posts`, async (store) => {
      const { author, theirs } = await authorWith(2, store);
      await throwsItsError((fail) => store.users.delete(author.id, mode, later, fail));
      same(await store.users.get(author.id), author);
      await allThere(store, theirs);
    });
  }
}

async function allThere({ posts }: Store, records: readonly Post[]): Promise<void> {
  for (const record of records) same(await posts.get(record.id), record);
}
