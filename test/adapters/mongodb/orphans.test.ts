import { expect } from 'chai';
import { raceOrphans } from '../../faults/orphan-race.ts';
import { describeOn, topologies } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// In little; at length in test/faults/mongodb-orphans.ts.
for (const topology of topologies) {
  await describeOn(topology, 'The race of creations, moves and deletions', () => {
    const database = useDatabase(topology);

    it('leaves no orphan and loses no post, whatever step fails', async function () {
      this.timeout(60_000);
      const ledger = await raceOrphans({ url: database.url, db: database.db, rounds: 30 });
      expect(ledger).to.include({ orphans: 0, orphansAtEnd: 0, lost: 0, rounds: 30 });
      expect(ledger.injected).to.be.above(10);
    });
  });
}
