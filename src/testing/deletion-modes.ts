import assert from 'node:assert/strict';
import { raisesUnknownAuthor, throwsThis } from './assertions.ts';
import { authorWith, everyMode, unchanged } from './authorship.ts';
import { post } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** What holds however a user is deleted. */
export function describeEveryMode({ test }: Suite): void {
  for (const mode of everyMode) {
    test(`${mode.posts}: a user without posts is deleted`, async (store) => {
      const { author, others } = await authorWith(0, store);
      assert.equal(await store.users.delete(author.id, mode), true);
      assert.equal(await store.users.get(author.id), undefined);
      for (const record of others) {
        assert.deepEqual(await store.posts.get(record.id), { record, version: 1 });
      }
    });

    test(`${mode.posts}: no user, false, and nothing is changed`, async (store) => {
      const { author, theirs } = await authorWith(1, store);
      assert.equal(await store.users.delete('nobody', mode), false);
      await unchanged(store, author, theirs);
    });

    test(`${mode.posts}: the guard is asked before the posts, and what it throws changes nothing`, async (store) => {
      const { author, theirs } = await authorWith(2, store);
      const refusal = new RangeError('no');
      const guard = (): never => {
        throw refusal;
      };
      await throwsThis(store.users.delete(author.id, mode, guard), refusal);
      await unchanged(store, author, theirs);
    });

    test(`${mode.posts}: a deleted user can be named no more`, async (store) => {
      const { author, others } = await authorWith(0, store);
      await store.users.delete(author.id, mode);
      await raisesUnknownAuthor(store.posts.create(post({ authorId: author.id })));
      const [other] = others;
      const move = store.posts.update(other?.id ?? '', ({ record }) => ({
        ...record,
        authorId: author.id,
      }));
      await raisesUnknownAuthor(move);
    });
  }
}
