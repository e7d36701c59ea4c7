import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { throwsThis } from './assertions.ts';
import { post, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';

/** What holds for the deletion of either kind; users with posts have a file of their own. */
export function describeDeletion(suite: Suite): void {
  suite.group('deletion', () => {
    deletionOf(users, suite);
    deletionOf(posts, suite);

    suite.test('a deleted post leaves its author and the author’s other posts', async (store) => {
      const author = user();
      await store.users.create(author);
      const [one, two] = [post({ authorId: author.id }), post({ authorId: author.id })];
      await store.posts.create(one);
      await store.posts.create(two);
      await store.posts.delete(one.id);
      assert.deepEqual(await store.users.get(author.id), { record: author, version: 1 });
      assert.deepEqual(await store.posts.get(two.id), { record: two, version: 1 });
    });
  });
}

function deletionOf<R extends Entity>({ name, of, make, remove }: Kind<R>, { test }: Suite): void {
  test(`${name}: what is deleted is gone, once`, async (store) => {
    const [record, other] = [make(), make()];
    await of(store).create(record);
    await of(store).create(other);
    assert.equal(await remove(store, record.id), true);
    assert.equal(await of(store).get(record.id), undefined);
    assert.equal(await remove(store, record.id), false);
    const order = { by: 'createdAt', direction: 'asc' } as const;
    const page = await of(store).list({}, { order, limit: 5, total: true });
    assert.deepEqual(page.items, [{ record: other, version: 1 }]);
    assert.equal(page.total, 1);
  });

  test(`${name}: an id that names nothing is false, and no guard is asked`, async (store) => {
    for (const id of ['none', '', '\0', '__proto__']) {
      assert.equal(await remove(store, id), false);
      const guarded = remove(store, id, () => assert.fail('the guard was asked'));
      assert.equal(await guarded, false);
    }
  });

  test(`${name}: a guard is shown the record and the version as they are stored`, async (store) => {
    const record = make();
    await of(store).create(record);
    await of(store).update(record.id, (current) => ({ ...current.record, n: 1 }));
    let shown: unknown;
    const deleted = await remove(store, record.id, (current) => {
      shown = structuredClone(current);
    });
    assert.equal(deleted, true);
    assert.deepEqual(shown, { record: { ...record, n: 1 }, version: 2 });
  });

  test(`${name}: what a guard throws ends the call and nothing is deleted`, async (store) => {
    const record = make();
    await of(store).create(record);
    const refusal = new RangeError('no');
    const call = remove(store, record.id, () => {
      throw refusal;
    });
    await throwsThis(call, refusal);
    assert.deepEqual(await of(store).get(record.id), { record, version: 1 });
  });
}
