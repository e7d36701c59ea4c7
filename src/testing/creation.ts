import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { raises } from './assertions.ts';
import { claim, post, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** A new record, without a claim. */
export function describeCreation(suite: Suite): void {
  suite.group('creation', () => {
    creationOf(users, suite);
    creationOf(posts, suite);

    suite.test('a user and a post may have the same id', async (store) => {
      const [author, record] = [user({ id: 'same' }), post({ id: 'same' })];
      await store.users.create(author);
      await store.posts.create(record);
      assert.deepEqual((await store.users.get('same'))?.record, author);
      assert.deepEqual((await store.posts.get('same'))?.record, record);
    });

    suite.test('users: of an id and an email that are taken, the id is told', async (store) => {
      const first = user();
      await store.users.create(first);
      await raises(store.users.create(user({ id: first.id, email: first.email })), 'id-taken');
    });

    suite.test('posts: of a taken id and an unknown author, the id is told', async (store) => {
      const first = post();
      await store.posts.create(first);
      await raises(store.posts.create(post({ id: first.id, authorId: 'nobody' })), 'id-taken');
    });
  });
}

function creationOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: a new record is at version 1 and was not replayed`, async (store) => {
    const record = make();
    const stored = { record, version: 1 };
    assert.deepEqual(await of(store).create(record), { stored, replayed: false });
    assert.deepEqual(
      await of(store)
        .create(make(), claim())
        .then((c) => c.replayed),
      false,
    );
  });

  test(`${name}: a taken id is refused, and the record that has it stays`, async (store) => {
    const first = make();
    await of(store).create(first);
    assert.deepEqual(await raises(of(store).create(make({ id: first.id })), 'id-taken'), {
      id: first.id,
    });
    assert.deepEqual(await of(store).get(first.id), { record: first, version: 1 });
  });

  test(`${name}: a record without a claim is made anew each time`, async (store) => {
    const [one, two] = [make({ same: true }), make({ same: true })];
    await of(store).create(one);
    assert.equal((await of(store).create(two)).replayed, false);
    assert.deepEqual((await of(store).get(two.id))?.record, two);
  });

  test(`${name}: a deleted record’s id may be used again, from version 1`, async (store) => {
    const first = make();
    await of(store).create(first);
    await of(store).update(first.id, ({ record }) => ({ ...record, n: 1 }));
    await remove(store, first.id);
    const second = make({ id: first.id });
    await of(store).create(second);
    assert.deepEqual(await of(store).get(first.id), { record: second, version: 1 });
  });
}
