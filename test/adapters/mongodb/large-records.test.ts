import { expect } from 'chai';
import { expected, readLargeRecords } from '../../faults/mongodb-large-records.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// In little; at length in test/faults/mongodb-large-records.ts.
await describeOn('replica set', 'A process of little memory on MongoDB', () => {
  const database = useDatabase('replica set');

  it('reads and deletes records that together are larger', async function () {
    this.timeout(60_000);
    const size = { posts: 10, megabytes: 150 };
    const { code, stdout, output } = await readLargeRecords(size, database.url);
    expect(code, output).to.equal(0);
    expect(stdout).to.equal(expected(size.posts));
  });
});
