import { expect } from 'chai';
import { countSyncs, hasStrace } from './count-fdatasync.ts';
import { isGood, killServers } from './kill-sqlite.ts';

describe('the server on SQLite', () => {
  it('loses nothing that it acknowledged when it is killed, beside another on the same file', async () => {
    const reports = await killServers(2, { kills: 50, seconds: 300, writers: 4 });
    for (const report of reports) {
      console.log(report);
      expect(report.kills).to.equal(50);
      expect(isGood(report)).to.equal(true);
    }
  });

  it('syncs at least once for every commit that it acknowledges', async function () {
    if (!hasStrace()) this.skip();
    const { writes, syncs } = await countSyncs(200);
    expect(syncs).to.be.at.least(writes);
  });
});
