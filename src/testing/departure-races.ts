import assert from 'node:assert/strict';
import { authorWith, everyMode } from './authorship.ts';
import { against } from './deletion-race.ts';
import { user } from './fixtures.ts';
import type { Suite } from './suite.ts';

const rounds = 12;

/** Deletions of a user against changes of the posts that name the user already. */
export function describeDepartureRaces({ test }: Suite): void {
  for (const mode of everyMode) {
    test(`${mode.posts}: deleting a user against moving their posts away takes none that moved`, async (store) => {
      const other = user();
      await store.users.create(other);
      for (let round = 0; round < rounds; round++) {
        const { author, theirs } = await authorWith(4, store);
        const { deleted, returned } = await against(store, author.id, mode, round, (n) =>
          store.posts.update(theirs[n]?.id ?? '', ({ record }) => ({
            ...record,
            authorId: other.id,
          })),
        );
        assert.equal((await store.users.get(author.id)) === undefined, deleted);
        for (const [n, { id }] of theirs.entries()) {
          // Whoever moved it was last: what was acknowledged is what is there.
          assert.deepEqual(await store.posts.get(id), returned[n]);
          if (mode.posts !== 'delete') assert.equal(returned[n]?.record.authorId, other.id);
        }
      }
    });

    test(`${mode.posts}: deleting a user against changing their posts loses no change`, async (store) => {
      for (let round = 0; round < rounds; round++) {
        const { author, theirs } = await authorWith(4, store);
        const { deleted, returned } = await against(store, author.id, mode, round, (n) =>
          store.posts.update(theirs[n]?.id ?? '', ({ record }) => ({ ...record, n })),
        );
        assert.equal(deleted, mode.posts !== 'refuse');
        for (const [n, { id }] of theirs.entries()) {
          const left = await store.posts.get(id);
          if (mode.posts === 'delete') assert.equal(left, undefined);
          else if (mode.posts === 'refuse') assert.deepEqual(left, returned[n]);
          else {
            assert.equal(left?.record.n, n, 'the change was lost');
            assert.equal(left?.record.authorId, null, 'the post names a deleted user');
            assert.equal(left?.version, 3, 'the post was changed twice');
          }
        }
      }
    });
  }
}
