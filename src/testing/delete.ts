import { VersionedRecord } from '../domain/records/record.ts';
import type { RecordEvent } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import { expectEqual, expectError, expectReplay } from './assertions.ts';
import { followEvents } from './events.ts';
import { at, later, newReceipt, post, times, user } from './fixtures.ts';
import { eq, from, insert, list, readAll } from './lists/lists.ts';
import type { Suite } from './suite.ts';
import { scanAll } from './transfer.ts';

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

/** Deletions of users with many posts. Random walks delete everything else. */
export function describeDelete(suite: Suite): void {
  for (const mode of ['delete', 'keep'] as const) describeMany(mode, suite);
}

/** More posts than a page, a batch or a statement takes. Some were created under receipts. */
const many = 5001;

function describeMany(mode: 'delete' | 'keep', { contract, test }: Suite): void {
  test(`${mode}: handles ${many} posts, their receipts and their events`, async (store) => {
    const { users, posts, transfer } = store;
    const follower = contract.withoutEvents === undefined ? await followEvents(store) : undefined;
    const author = user();
    await insert(users, [author]);
    const created = times(many, (n) =>
      post({ authorId: author.id, publishedAt: n % 3 > 0 ? at(n) : null }),
    );
    // Loading is faster, so only one mode has a receipt for each post.
    const receipts = created.slice(0, mode === 'delete' ? many : 100).map(() => newReceipt());
    const toLoad = transfer ? created.slice(receipts.length) : [];
    await insert(posts, created.slice(0, many - toLoad.length), receipts);
    for (let n = 0; n < toLoad.length; n += 400) {
      const part = toLoad.slice(n, n + 400).map((record) => new VersionedRecord(record, 1));
      await transfer?.posts.load(part);
    }
    const conditions = [eq('authorId', author.id)];
    const { items, next, total } = await list(posts, { conditions, limit: 1000, total: true });
    const seen = [items.length, next?.id, total];
    expectEqual('the length, next and total of a page', seen, [1000, created[999]?.id, many]);
    expectEqual('the length of all pages', (await readAll(posts)).length, many);
    if (transfer) {
      const { length } = await transfer.posts.scan({ limit: 1500, bytes: 2 ** 24 });
      expectEqual('the length of a scan of 1,500', length, 1500);
    }
    const refusal = await expectError(users.delete(author.id, 'refuse', later), 'user-has-posts');
    expectEqual('the number of posts', refusal.posts, many);
    await follower?.read(many);
    const deletion = await users.delete(author.id, mode, later);
    expectEqual('the result of the deletion of a user', deletion, { posts: many });
    for (const some of [[], [from('updatedAt', later)]]) {
      const left = (await list(posts, { conditions: some, total: true })).total;
      expectEqual('the number of posts after the deletion', left, mode === 'keep' ? many : 0);
    }
    const last = mode === 'keep' ? 2 : 1;
    for (const { id } of created.slice(-2)) {
      expectEqual('lastVersion of a post', await posts.lastVersion(id), last);
    }
    if (transfer) {
      const scanned = (await scanAll(transfer.posts, { limit: 1000 })).length;
      expectEqual('the number of posts in a scan', scanned, mode === 'keep' ? many : 0);
      const deleted = await transfer.posts.deleted.scan(many);
      expectEqual('the number of deleted ids', deleted.length, mode === 'keep' ? 0 : many);
    }
    for (const n of [0, 50, receipts.length - 1]) {
      await expectReplay(posts, receipts[n] ?? newReceipt(), created[n] ?? post(), post());
    }
    const event = (type: RecordEvent['type'], id: string, version = 1): RecordEvent => ({
      ...{ type, collection: id === author.id ? 'users' : 'posts', id, version },
    });
    const change = mode === 'keep' ? 'updated' : 'deleted';
    await follower?.expect([
      ...[author, ...created].map(({ id }) => event('created', id)),
      ...created.map(({ id }) => event(change, id, last)),
      event('deleted', author.id),
    ]);
  });
}
