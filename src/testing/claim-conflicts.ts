import assert from 'node:assert/strict';
import { raises, raisesEmailTaken, raisesUnknownAuthor } from './assertions.ts';
import { claim, post, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** A claim is judged before emails and authors are, and stays only with its record. */
export function describeClaimConflicts({ test }: Suite): void {
  test('a replay does not ask whether the email is taken', async (store) => {
    const [key, first] = [claim(), user()];
    await store.users.create(first, key);
    const again = await store.users.create(user({ email: first.email }), key);
    assert.deepEqual(again, { stored: { record: first, version: 1 }, replayed: true });
  });

  test('a replay does not ask whether the author exists', async (store) => {
    const [key, first] = [claim(), post()];
    await store.posts.create(first, key);
    const again = await store.posts.create(post({ authorId: 'nobody' }), key);
    assert.deepEqual(again, { stored: { record: first, version: 1 }, replayed: true });
  });

  test('a reused key is told before a taken email', async (store) => {
    const [key, first] = [claim(), user()];
    await store.users.create(first, key);
    const other = claim({ key: key.key });
    const call = store.users.create(user({ email: first.email }), other);
    await raises(call, 'idempotency-key-reused');
  });

  test('a reused key is told before an unknown author', async (store) => {
    const key = claim();
    await store.posts.create(post(), key);
    const call = store.posts.create(post({ authorId: 'nobody' }), claim({ key: key.key }));
    await raises(call, 'idempotency-key-reused');
  });

  test('a creation that failed on its email leaves no claim', async (store) => {
    const [key, first, second] = [claim(), user(), user()];
    await store.users.create(first);
    await raisesEmailTaken(store.users.create(user({ email: first.email }), key));
    assert.equal(await store.users.replay(key), undefined);
    assert.equal((await store.users.create(second, key)).replayed, false);
    assert.deepEqual(await store.users.replay(key), { record: second, version: 1 });
  });

  test('a creation that failed on its author leaves no claim', async (store) => {
    const [key, second] = [claim(), post()];
    await raisesUnknownAuthor(store.posts.create(post({ authorId: 'nobody' }), key));
    assert.equal(await store.posts.replay(key), undefined);
    const other = claim({ key: key.key });
    assert.equal((await store.posts.create(second, other)).replayed, false);
  });

  test('a replay tells of the author at first, even of one who is gone', async (store) => {
    const [key, author] = [claim(), user()];
    await store.users.create(author);
    const record = post({ authorId: author.id });
    await store.posts.create(record, key);
    await store.users.delete(author.id, { posts: 'delete' });
    assert.deepEqual(await store.posts.replay(key), { record, version: 1 });
  });
}
