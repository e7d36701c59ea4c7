import { earliestInstant, latestInstant, nextInstant } from '../domain/instant.ts';
import type { Post } from '../domain/post.ts';
import type { Store } from '../ports/store.ts';
import type { DeleteMode } from '../ports/user-repository.ts';
import { absent, fail, is, makes, raises, repeats, same, throwsItsError } from './assertions.ts';
import { alikeIds, later, post, receipt, times, user } from './fixtures.ts';
import { idsOf, matches, pageOf, put, putEach, walk } from './lists.ts';
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

/** The deletion of a record, and the three ways to delete a user. */
export function describeDelete(suite: Suite): void {
  const { both } = suite;

  both('what is deleted is gone, once', async ({ records, make, remove }) => {
    const [record, other] = [make(), make()];
    await put(records, [record, other]);
    is('delete of a record', await remove(record.id), true);
    await absent(records, record.id);
    is('delete once more', await remove(record.id), false);
    const updated = await records.update(record.id, () => fail('a deleted record was changed'));
    is('update of a deleted record', updated, undefined);
    await matches(records, {}, [other.id]);
    same(await records.get(other.id), other);
  });

  both('a guard is shown what is stored, and what it throws ends the call', async (resource) => {
    const { records, make, remove } = resource;
    const record = make();
    await put(records, [record]);
    await throwsItsError((fail) => remove(record.id, fail));
    same(await records.get(record.id), record);
    await records.update(record.id, (current) => ({ ...current.record, n: 1 }));
    let asked = 0;
    const deleted = await remove(record.id, (current) => {
      asked++;
      same(current, { ...record, n: 1 }, 2);
    });
    is('delete with a guard that lets it be', deleted, true);
    is('whether the guard was asked', asked > 0, true);
  });

  describePosts(suite);
  for (const mode of everyMode) describeUsers(mode, suite);
  for (const mode of ['delete', 'keep'] as const) describeMany(mode, suite);
}

/** What becomes of the posts of a user, by the mode. */
function describePosts({ test }: Suite): void {
  test('refuse: a user who has posts stays, and their number is told', async (store) => {
    const { author, theirs } = await authorWith(3, store);
    const call = store.users.delete(author.id, 'refuse', later);
    is('posts that were told', (await raises(call, 'user-has-posts')).posts, 3);
    same(await store.users.get(author.id), author);
    await allThere(store, theirs);
  });

  test('users whose ids only look alike have their own posts', async ({ users, posts }) => {
    await putEach(users, alikeIds, (id) => user({ id }));
    // A post may have the id of a user, too.
    await putEach(posts, alikeIds, (id) => post({ id, authorId: id }));
    for (const id of alikeIds) await matches(posts, { authorId: id }, [id]);
    for (const [n, id] of alikeIds.entries()) {
      const refusal = await raises(users.delete(id, 'refuse', later), 'user-has-posts');
      is('posts that were told', refusal.posts, 1);
      await deletes(users.delete(id, n % 2 ? 'keep' : 'delete', later), 1);
      const left = (await walk(posts)).filter(({ authorId }) => authorId !== null);
      is(`posts that are left after user ${n}`, idsOf(left), alikeIds.slice(n + 1));
    }
  });

  test('refuse: a user whose posts are gone or moved away is deleted', async (store) => {
    const { author, theirs, others } = await authorWith(2, store);
    const [one, two] = theirs as [Post, Post];
    await store.posts.delete(one.id);
    same(await store.users.get(author.id), author);
    await allThere(store, [two, ...others]);
    await store.posts.update(two.id, ({ record }) => ({ ...record, authorId: null }));
    await deletes(store.users.delete(author.id, 'refuse', later), 0);
    await absent(store.users, author.id);
  });

  test('delete: their posts are deleted too, and no others', async (store) => {
    const { author, theirs, others } = await authorWith(3, store);
    await deletes(store.users.delete(author.id, 'delete', later), 3);
    await absent(store.users, author.id);
    for (const { id } of theirs) await absent(store.posts, id);
    await allThere(store, others);
  });

  test('keep: their posts stay without an author, each changed once', async (store) => {
    const { users, posts } = store;
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', later, latestInstant];
    // Also where the clock is behind: then `updatedAt` grows by 1 ms.
    for (const deletedAt of [earliestInstant, later]) {
      const { author, others } = await authorWith(0, store);
      const theirs = moments.map((updatedAt) => post({ authorId: author.id, updatedAt }));
      await put(posts, theirs);
      const [first, ...rest] = theirs as [Post, ...Post[]];
      const changed = { ...first, custom: { n: 1 } };
      await posts.update(first.id, () => changed);
      await deletes(users.delete(author.id, 'keep', deletedAt), moments.length);
      await absent(users, author.id);
      for (const record of [changed, ...rest]) {
        const updatedAt = nextInstant(record.updatedAt, deletedAt);
        const kept = { ...record, authorId: null, updatedAt };
        same(await posts.get(record.id), kept, record === changed ? 3 : 2);
      }
      await allThere(store, others);
    }
  });
}

/** More posts than a page has, each made under a receipt. */
function describeMany(mode: 'delete' | 'keep', { test }: Suite): void {
  test(`${mode}: more than a thousand posts, with their receipts`, async ({ users, posts }) => {
    const [authorId = ''] = await put(users, [user()]);
    const keys = times(1001, () => receipt());
    const made = times(1002, () => post({ authorId }));
    await put(posts, made, keys);
    const filter = { authorId };
    const { items, next, total } = await pageOf(posts, { filter, limit: 1000, total: true });
    is('items, next and total', [items.length, next?.id, total], [1000, made[999]?.id, 1002]);
    const refusal = await raises(users.delete(authorId, 'refuse', later), 'user-has-posts');
    is('posts that were told', refusal.posts, 1002);
    await deletes(users.delete(authorId, mode, later), 1002);
    const kept = mode === 'keep' ? 1002 : 0;
    const changed = { authorId: null, updatedAt: { from: later } };
    is('posts that are left', (await pageOf(posts, { total: true })).total, kept);
    is('posts that were kept', (await pageOf(posts, { filter: changed, total: true })).total, kept);
    for (const { id } of made.slice(-2)) await raises(posts.create(post({ id })), 'id-taken');
    for (const n of [0, 500, 1000]) {
      await repeats(posts, keys[n] ?? receipt(), made[n] ?? post(), post());
    }
  });
}

function describeUsers(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: a deleted user is no author, and has no address`, async (store) => {
    const { users, posts } = store;
    const { author, others } = await authorWith(0, store);
    await deletes(users.delete(author.id, mode, later), 0);
    await absent(users, author.id);
    await raises(posts.create(post({ authorId: author.id })), 'invalid-record');
    const [other] = others as [Post];
    const move = posts.update(other.id, (c) => ({ ...c.record, authorId: author.id }));
    await raises(move, 'invalid-record');
    await allThere(store, others);
    await put(users, [user({ email: author.email })]);
  });

  test(`${mode}: receipts of a deleted user and their posts stay`, async ({ users, posts }) => {
    const [userKey, postKey, author] = [receipt(), receipt(), user()];
    const record = post({ authorId: author.id });
    await makes(users, author, userKey);
    await makes(posts, record, postKey);
    if (mode === 'refuse') await posts.delete(record.id);
    await users.delete(author.id, mode, later);
    await put(users, [user({ email: author.email })]);
    await repeats(users, userKey, author);
    await repeats(posts, postKey, record);
  });

  test(`${mode}: no user, or a guard that throws, and nothing is changed`, async (store) => {
    const { author, theirs } = await authorWith(2, store);
    is('delete of nobody', await store.users.delete('nobody', mode, later), undefined);
    await throwsItsError((fail) => store.users.delete(author.id, mode, later, fail));
    same(await store.users.get(author.id), author);
    await allThere(store, theirs);
  });
}

/** A deletion that tells how many posts it deleted or changed. */
async function deletes(deletion: ReturnType<Store['users']['delete']>, posts: number) {
  is('what the deletion of a user returned', await deletion, { posts });
}

async function allThere({ posts }: Store, records: readonly Post[]): Promise<void> {
  for (const record of records) same(await posts.get(record.id), record);
}
