import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { post, times } from '../../../src/testing/fixtures.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { startReplicaSet } from '../../support/mongod/servers.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { untilServed } from '../../support/until.ts';

await describeOnMongodb('the memory of a MongoDB server', () => {
  it('does not grow with the number of conditions of a list', async function () {
    this.timeout(60_000);
    await using set = await startReplicaSet((await findMongod()) ?? '', 1);
    const url = set.url('memory');
    await using client = await new MongoClient(url).connect();
    await using store = openMongodbStore({ url, declaredFields: { posts: { tags: 'text[]' } } });
    await untilServed(() => store.ready(), 30_000);
    const residentMiB = async () => (await client.db().command({ serverStatus: 1 })).mem.resident;
    const tags = times(64, (n) => `tag ${n}`);
    const ids = times(40, (n) => `p${n + 10}`);
    for (const id of ids) await store.posts.create(post({ id, tags, text: 'x'.repeat(900_000) }));

    const before = await residentMiB();
    const conditions = tags.map(
      (value) => ({ field: 'tags', declaredType: 'text[]', op: 'has', value }) as const,
    );
    const order = { field: 'createdAt', direction: 'asc' } as const;
    const query = { conditions, order, limit: 100, bytes: 2 ** 30 };
    for (const fields of [undefined, ['id', 'text']]) {
      const { items } = await store.posts.list({ ...query, fields });
      expect(items.map(({ record }) => record.id)).to.deep.equal(ids);
    }
    // With the documents of each plan, it takes more than 2 GiB.
    expect((await residentMiB()) - before).to.be.below(500);
  });
});
