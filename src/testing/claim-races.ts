import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { race } from './assertions.ts';
import { claim, post, times, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';
import { walk } from './walk.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

/** Creations that race under one key. */
export function describeClaimRaces(suite: Suite): void {
  claimRacesOf(users, suite);
  claimRacesOf(posts, suite);

  suite.test(
    'of 20 repeats of one request, none finds its own email address taken',
    async (store) => {
      const key = claim();
      const repeats = times(20, () => user({ email: 'one@example.com', name: 'One' }));
      const { returned, raised } = await race(repeats.map((one) => store.users.create(one, key)));
      assert.deepEqual(raised, []);
      assert.equal(returned.filter(({ replayed }) => !replayed).length, 1);
      assert.equal((await walk(store.users, { filter: {}, order })).length, 1);
    },
  );

  suite.test(
    'of racing creations under one key, one that fails leaves the key to another',
    async (store) => {
      const key = claim();
      const calls = times(20, (n) => {
        return store.posts.create(post({ authorId: n % 2 ? null : 'nobody' }), key);
      });
      const { returned } = await race(calls);
      assert.ok(returned.length >= 10, 'a creation that had an author was refused');
      assert.equal(returned.filter(({ replayed }) => !replayed).length, 1);
      assert.deepEqual(await store.posts.replay(key), returned[0]?.stored);
    },
  );
}

function claimRacesOf<R extends Entity>({ name, of, make }: Kind<R>, { test }: Suite): void {
  test(`${name}: of 20 creations under one claim, one makes its record, the others return it`, async (store) => {
    const key = claim();
    const { returned, raised } = await race(times(20, () => of(store).create(make(), key)));
    assert.deepEqual(raised, []);
    const made = returned.filter(({ replayed }) => !replayed);
    assert.equal(made.length, 1);
    for (const { stored } of returned) assert.deepEqual(stored, made[0]?.stored);
    assert.deepEqual(await walk(of(store), { filter: {}, order }), [made[0]?.stored.record]);
  });

  test(`${name}: of creations under one key for different requests, one request wins`, async (store) => {
    const key = claim();
    const prints = ['a', 'b'];
    const calls = times(20, (n) =>
      of(store).create(make({ print: n % 2 }), { ...key, fingerprint: prints[n % 2] ?? '' }),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, Array(10).fill('idempotency-key-reused'));
    assert.equal(returned.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(new Set(returned.map(({ stored }) => stored.record.id)).size, 1);
    assert.equal((await walk(of(store), { filter: {}, order })).length, 1);
  });
}
