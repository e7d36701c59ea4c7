import assert from 'node:assert/strict';
import { claimed, raises, raisesIdTaken, same, throwsItsError } from './assertions.ts';
import { claim, post, user } from './fixtures.ts';
import { pageOf } from './lists.ts';
import type { Suite } from './suite.ts';

/** A new record. */
export function describeCreation({ test, both }: Suite): void {
  both('a new record is at version 1 and was not replayed', async ({ records, make }) => {
    for (const key of [undefined, claim()]) {
      const record = make();
      const creation = await records.create(() => record, key);
      same(creation, record);
      assert.equal(creation.replayed, false);
    }
  });

  both('what make throws ends the call, nothing is claimed', async ({ records, make }) => {
    const key = claim();
    await throwsItsError((fail) => records.create(fail));
    await throwsItsError((fail) => records.create(fail, key));
    assert.deepEqual((await pageOf(records)).items, []);
    const record = make();
    assert.equal((await records.create(() => record, key)).replayed, false);
    same(await claimed(records, key), record);
  });

  both('a taken id is refused, and the record that has it stays', async ({ records, make }) => {
    const first = make();
    await records.create(() => first);
    const call = records.create(() => make({ id: first.id }));
    assert.deepEqual(await raises(call, 'id-taken'), { id: first.id });
    same(await records.get(first.id), first);
  });

  test('a user and a post may have the same id', async ({ users, posts }) => {
    const [author, record] = [user({ id: 'same' }), post({ id: 'same' })];
    await users.create(() => author);
    await posts.create(() => record);
    same(await users.get('same'), author);
    same(await posts.get('same'), record);
  });

  test('users: of an id and an email that are taken, the id is told', async ({ users }) => {
    const first = user();
    await users.create(() => first);
    const second = user({ id: first.id, email: first.email });
    await raisesIdTaken(users.create(() => second));
  });

  test('posts: of a taken id and an unknown author, the id is told', async ({ posts }) => {
    const first = post();
    await posts.create(() => first);
    const second = post({ id: first.id, authorId: 'nobody' });
    await raisesIdTaken(posts.create(() => second));
  });
}
