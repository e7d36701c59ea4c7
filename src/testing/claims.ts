import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { raises } from './assertions.ts';
import { describeClaimConflicts } from './claim-conflicts.ts';
import { describeClaimLifetimes } from './claim-lifetimes.ts';
import { claim, post, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** Creations that are safe to repeat. */
export function describeClaims(suite: Suite): void {
  suite.group('claims', () => {
    claimsOf(users, suite);
    claimsOf(posts, suite);
    describeClaimLifetimes(suite);

    suite.test('claims of users and of posts are separate', async (store) => {
      const key = claim();
      await store.users.create(user(), key);
      assert.equal(await store.posts.replay(key), undefined);
      assert.equal((await store.posts.create(post(), key)).replayed, false);
      const other = claim({ key: key.key });
      await raises(store.posts.create(post(), other), 'idempotency-key-reused');
    });

    describeClaimConflicts(suite);
  });
}

function claimsOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: a repeat under one claim makes nothing and returns the first record`, async (store) => {
    const [key, record] = [claim(), make()];
    const stored = { record, version: 1 };
    assert.deepEqual(await of(store).create(record, key), { stored, replayed: false });
    const other = make();
    assert.deepEqual(await of(store).create(other, key), { stored, replayed: true });
    assert.deepEqual(await of(store).create(record, key), { stored, replayed: true });
    assert.equal(await of(store).get(other.id), undefined);
  });

  test(`${name}: a key with another fingerprint is refused, and nothing is written`, async (store) => {
    const [key, record, other] = [claim(), make(), make()];
    await of(store).create(record, key);
    const reused = claim({ key: key.key });
    await raises(of(store).create(other, reused), 'idempotency-key-reused');
    await raises(of(store).create(record, reused), 'idempotency-key-reused');
    await raises(of(store).replay(reused), 'idempotency-key-reused');
    assert.equal(await of(store).get(other.id), undefined);
    assert.deepEqual(await of(store).replay(key), { record, version: 1 });
  });

  test(`${name}: a replay returns the record as it was first made, after changes too`, async (store) => {
    const [key, record] = [claim(), make({ own: { n: 1 } })];
    await of(store).create(record, key);
    await of(store).update(record.id, ({ record: old }) => ({ ...old, own: { n: 2 } }));
    const stored = { record, version: 1 };
    assert.deepEqual(await of(store).create(make(), key), { stored, replayed: true });
    assert.deepEqual(await of(store).replay(key), stored);
    assert.deepEqual((await of(store).get(record.id))?.version, 2);
  });

  test(`${name}: a claim outlives its record, even one whose id was used again`, async (store) => {
    const [key, record] = [claim(), make()];
    await of(store).create(record, key);
    await remove(store, record.id);
    const stored = { record, version: 1 };
    assert.deepEqual(await of(store).create(make(), key), { stored, replayed: true });
    assert.equal(await of(store).get(record.id), undefined);
    await of(store).create(make({ id: record.id }), claim());
    assert.deepEqual(await of(store).replay(key), stored);
  });

  test(`${name}: replay is undefined for a key that is free, and claims nothing`, async (store) => {
    const key = claim();
    assert.equal(await of(store).replay(key), undefined);
    assert.equal((await of(store).create(make(), key)).replayed, false);
  });

  test(`${name}: a creation that failed on its id leaves no claim`, async (store) => {
    const [key, first, second] = [claim(), make(), make()];
    await of(store).create(first);
    await raises(of(store).create(make({ id: first.id }), key), 'id-taken');
    assert.equal(await of(store).replay(key), undefined);
    assert.deepEqual((await of(store).create(second, key)).stored.record, second);
  });

  test(`${name}: a key is exact, whatever it looks like`, async (store) => {
    const keys = ['k', 'K', 'k ', ' ', '1', '01', 'é', 'e\u0301', 'constructor', '__proto__', '$k'];
    const claims = [...keys, "'k'", 'x'.repeat(255), '😀'].map((key) => claim({ key }));
    for (const key of claims) assert.equal((await of(store).create(make(), key)).replayed, false);
    for (const key of claims) assert.equal((await of(store).create(make(), key)).replayed, true);
  });
}
