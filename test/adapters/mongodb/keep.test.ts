import { expect } from 'chai';
import { earliestInstant, latestInstant } from '../../../src/domain/instant.ts';
import { withoutAuthor } from '../../../src/domain/post.ts';
import { VersionedRecord } from '../../../src/domain/record.ts';
import { post, user } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// The server computes what `withoutAuthor` says, with its own calendar.

const instants = [
  ...[earliestInstant, '0000-12-31T23:59:59.999Z', '0099-02-28T23:59:59.999Z'],
  ...['1582-10-04T23:59:59.999Z', '1900-02-28T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ...['2024-02-28T23:59:59.999Z', '2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.001Z'],
  ...['9999-12-31T23:59:59.998Z', latestInstant],
];

await describeOn('replica set', 'Posts that outlive their author', () => {
  const database = useDatabase('replica set');

  it('become what the domain makes of them, whatever the time', async () => {
    const store = database.open();
    for (const at of instants) {
      const author = user();
      const posts = instants.map((updatedAt) => post({ authorId: author.id, updatedAt }));
      await store.transfer.users.load([new VersionedRecord(author, 1)]);
      await store.transfer.posts.load(posts.map((record) => new VersionedRecord(record, 4)));
      const deletion = await store.users.delete(author.id, 'keep', at);
      expect(deletion).to.deep.equal({ posts: posts.length });
      for (const before of posts) {
        const after = await store.posts.get(before.id);
        expect(after?.record).to.deep.equal(withoutAuthor(before, at));
        expect(after?.version).to.equal(5);
      }
    }
  });
});
