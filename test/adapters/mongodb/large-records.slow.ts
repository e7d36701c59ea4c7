import { expect } from 'chai';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { expected, handleLargeRecords } from './large-records.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('a process with little memory on MongoDB', () => {
  const database = useDatabase();

  it('handles records that are larger than its memory in total', async function () {
    this.timeout(60_000);
    const { code, stdout, output } = await handleLargeRecords(database.url, 100);
    expect(code, output).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal(expected);
  });
});
