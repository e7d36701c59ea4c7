import { earliestInstant, latestInstant, nextInstant } from '../domain/records/instant.ts';
import type { Post } from '../domain/records/post.ts';
import type { Store } from '../ports/store.ts';
import {
  expectAbsent,
  expectEqual,
  expectError,
  expectRecord,
  expectReplay,
  expectThrown,
  uncalled,
} from './assertions.ts';
import { at, later, newReceipt, post, times, user } from './fixtures.ts';
import { eq, expectMatches, from, insert, list } from './lists.ts';
import type { Suite } from './suite.ts';

/** Creates a user with this many posts, every second one a draft, and posts of others. */
export async function authorWith(count: number, { users, posts }: Store) {
  const author = user({ email: null });
  const colleague = user();
  const theirs = times(count, (n) =>
    post({ authorId: author.id, publishedAt: n % 2 > 0 ? null : at(n) }),
  );
  const others = [post({ authorId: colleague.id }), post(), post({ publishedAt: null })];
  await insert(users, [author, colleague]);
  await insert(posts, [...theirs, ...others]);
  return { author, theirs, others };
}

/** Deletions of records, and the three modes for users. */
export function describeDelete(suite: Suite): void {
  suite.testEach('deletes a record once', async ({ records, make, remove }) => {
    const record = make();
    const other = make();
    await insert(records, [record, other]);
    await expectThrown((guard) => remove(record.id, guard));
    expectRecord(await records.get(record.id), record);
    expectEqual('the result of delete', await remove(record.id), true);
    await expectAbsent(records, record.id);
    expectEqual('the result of a second delete', await remove(record.id), false);
    const decide = uncalled('a decision was called for a deleted record');
    const updated = await records.update(record.id, decide);
    expectEqual('the result of update for a deleted record', updated, undefined);
    await expectMatches(records, [], [other.id]);
  });

  describeModes(suite);
  for (const mode of ['delete', 'keep'] as const) describeMany(mode, suite);
}

/** What happens to the posts of a deleted user. */
function describeModes({ test }: Suite): void {
  test('refuse: keeps a user who has posts, and reports how many', async (store) => {
    const { users, posts } = store;
    const { author, theirs, others } = await authorWith(2, store);
    const refuse = () => users.delete(author.id, 'refuse', later);
    expectEqual('the number of posts', (await expectError(refuse(), 'user-has-posts')).posts, 2);
    expectRecord(await users.get(author.id), author);
    await expectUnchanged(store, theirs);
    for (const { id } of theirs) await posts.delete(id);
    await expectDeletion(refuse(), 0);
    await expectAbsent(users, author.id);
    await expectUnchanged(store, others);
  });

  test('delete: deletes the posts of the user and no others', async (store) => {
    const { author, theirs, others } = await authorWith(3, store);
    await expectDeletion(store.users.delete(author.id, 'delete', later), 3);
    await expectAbsent(store.users, author.id);
    for (const { id } of theirs) await expectAbsent(store.posts, id);
    await expectUnchanged(store, others);
  });

  test('keep: removes the author from the posts of the user, changing each post once', async (store) => {
    const { users, posts } = store;
    const moments = [earliestInstant, '1969-12-31T23:59:59.999Z', later, latestInstant];
    // If the clock is behind `updatedAt`, that grows by 1 ms.
    for (const deletedAt of [earliestInstant, later]) {
      const { author, others } = await authorWith(0, store);
      const theirs = moments.map((updatedAt) => post({ authorId: author.id, updatedAt }));
      await insert(posts, theirs);
      await expectDeletion(users.delete(author.id, 'keep', deletedAt), moments.length);
      await expectAbsent(users, author.id);
      for (const record of theirs) {
        const updatedAt = nextInstant(record.updatedAt, deletedAt);
        expectRecord(await posts.get(record.id), { ...record, authorId: null, updatedAt }, 2);
      }
      await expectUnchanged(store, others);
    }
  });
}

/** More posts than a page has, each created under a receipt. */
function describeMany(mode: 'delete' | 'keep', { test }: Suite): void {
  test(`${mode}: handles more than a thousand posts, and keeps their receipts`, async (store) => {
    const { users, posts } = store;
    const [authorId = ''] = await insert(users, [user()]);
    const receipts = times(1002, () => newReceipt());
    const created = times(1002, (n) => post({ authorId, publishedAt: n % 3 > 0 ? at(n) : null }));
    await insert(posts, created, receipts);
    const conditions = [eq('authorId', authorId)];
    const { items, next, total } = await list(posts, { conditions, limit: 1000, total: true });
    const seen = [items.length, next?.id, total];
    expectEqual('the length, next and total of a page', seen, [1000, created[999]?.id, 1002]);
    const refusal = await expectError(users.delete(authorId, 'refuse', later), 'user-has-posts');
    expectEqual('the number of posts', refusal.posts, 1002);
    await expectDeletion(users.delete(authorId, mode, later), 1002);
    const changed = [from('updatedAt', later)];
    for (const some of [[], changed]) {
      const left = (await list(posts, { conditions: some, total: true })).total;
      expectEqual('the number of posts after the deletion', left, mode === 'keep' ? 1002 : 0);
    }
    for (const { id } of created.slice(-2)) {
      const last = mode === 'keep' ? 2 : 1;
      expectEqual('lastVersion of a post', await posts.lastVersion(id), last);
    }
    for (const n of [0, 500, 1000]) {
      await expectReplay(posts, receipts[n] ?? newReceipt(), created[n] ?? post(), post());
    }
  });
}

async function expectDeletion(deletion: ReturnType<Store['users']['delete']>, posts: number) {
  expectEqual('the result of the deletion of a user', await deletion, { posts });
}

async function expectUnchanged({ posts }: Store, records: readonly Post[]): Promise<void> {
  for (const record of records) expectRecord(await posts.get(record.id), record);
}
