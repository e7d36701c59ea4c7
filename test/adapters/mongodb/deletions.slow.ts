import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { withoutAuthor } from '../../../src/domain/records/post.ts';
import { at, later, post, times, user } from '../../../src/testing/fixtures.ts';
import { plantUnchangedTouch, raceOrphans } from '../../faults/orphan-race.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('deletions on MongoDB', () => {
  const database = useDatabase();

  it('are rejected for a user with more than 25,000 posts', async function () {
    this.timeout(60_000);
    const { users } = database.open();
    const author = user();
    await users.create(author);
    const documents = times(25_001, (n) => ({ _id: `x${n}`, authorId: author.id }));
    await database.db.collection<{ _id: string }>('posts').insertMany(documents);
    for (const mode of ['delete', 'keep'] as const) {
      const error = await errorOf(users.delete(author.id, mode, later));
      expect(isRostrumError(error, 'refused') && error.details.reason).to.equal(
        "A user with more than 25000 posts can't be deleted in one step. Delete some of the posts first.",
      );
    }
    const error = await errorOf(users.delete(author.id, 'refuse', later));
    expect(isRostrumError(error, 'user-has-posts') && error.details.posts).to.equal(25_001);
    await database.clear();
  });

  it('that keep posts remove their author exactly as the domain would', async () => {
    const { users, posts, transfer } = database.open();
    const author = user();
    await users.create(author);
    const before = times(9, (n) =>
      post({
        authorId: author.id,
        // Some have an updatedAt later than the deletion, from another server's clock.
        updatedAt: at(n % 3),
      }),
    );
    await transfer.posts.load(before.map((record) => ({ record, version: 4, json: '' })));
    expect(await users.delete(author.id, 'keep', at(1))).to.deep.equal({ posts: 9 });
    for (const record of before) {
      const after = await posts.get(record.id);
      expect(after?.record).to.deep.equal(withoutAuthor(record, at(1)));
      expect(after?.version).to.equal(5);
    }
  });

  it('leave no orphans and lose no posts when racing with creations and author changes', async function () {
    this.timeout(60_000);
    const race = { url: database.url, db: database.db };
    expect(await raceOrphans({ ...race, rounds: 20 })).to.include({ orphans: 0, lost: 0 });
    // Prove that the race can find orphans: an update of the author that changes nothing causes no conflict.
    const restore = plantUnchangedTouch();
    try {
      expect((await raceOrphans({ ...race, rounds: 20 })).orphans).to.be.above(0);
    } finally {
      restore();
    }
  });
});
