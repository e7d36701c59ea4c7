import { expect } from 'chai';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { expected, handleLargeRecords } from './large-records.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('A process of little memory on MongoDB', () => {
  const database = useDatabase();

  it('creates, reads and deletes records that together are larger', async function () {
    this.timeout(60_000);
    const { code, stdout, output } = await handleLargeRecords(database.url, 100);
    expect(code, output).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal(expected);
  });
});
