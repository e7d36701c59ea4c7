import { expect } from 'chai';
import { findMongod } from '../support/mongod/binary.ts';
import { failOver, isGood as isSafe } from './mongodb-failover.ts';
import { expected, readEverywhere } from './mongodb-large-records.ts';
import { isGood, raceEverywhere } from './mongodb-orphans.ts';

describe('Rostrum on MongoDB', () => {
  before(async function find() {
    if ((await findMongod()) === undefined) this.skip();
  });

  it('leaves no post without its author, and does without the fence', async () => {
    const reports = await raceEverywhere(500);
    console.log(reports);
    expect(reports).to.have.lengthOf(2);
    for (const report of reports) expect(isGood(report)).to.equal(true);
  });

  it('reads and deletes records that together are larger than its memory', async () => {
    const outcomes = await readEverywhere({ posts: 40, megabytes: 640 });
    expect(outcomes).to.have.lengthOf(2);
    for (const { stdout, output } of outcomes) expect(stdout, output).to.equal(expected(40));
  });

  it('keeps what it acknowledged, once, when primaries are killed and step down', async () => {
    const report = await failOver({ kills: 20, stepDowns: 20 });
    console.log(report);
    expect(report !== undefined && isSafe(report)).to.equal(true);
  });
});
