import { expect } from 'chai';
import type { StoredPost } from '../../../src/adapters/mongodb/documents.ts';
import { pendingPost } from '../../../src/adapters/mongodb/pending-posts.ts';
import { post, times, user } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

await describeOn('standalone', 'loading into MongoDB', () => {
  const database = useDatabase('standalone');

  it('gets past all that a loader left who was killed, at once', async () => {
    const store = database.open();
    const author = user();
    await store.users.create(author);
    const records = times(400, () => ({ record: post({ authorId: author.id }), version: 3 }));
    const posts = database.db.collection<StoredPost>('posts');
    await posts.insertMany(
      records.map(({ record }) =>
        pendingPost({ _id: record.id }, { token: 'of the dead', author: author.id }),
      ),
    );
    await store.posts.load(records);
    expect(await posts.countDocuments({ pending: true })).to.equal(0);
    expect(await store.posts.scan(1000)).to.deep.equal(
      records.toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1)),
    );
  });
});
