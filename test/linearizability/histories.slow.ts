import { expect } from 'chai';
import type { Store } from '../../src/index.ts';
import { startApi } from '../adapters/http/support/api.ts';
import { useDatabase } from '../adapters/mongodb/store-on.ts';
import { describeOnMongodb } from '../support/mongod/shared.ts';
import { openFaulty } from '../testing/faults.ts';
import { Racers, usual } from './history.ts';

// Only on MongoDB: the memory and SQLite stores change a record in one synchronous step.

/** Returns the first record whose history is not linearizable. */
async function firstWrong(
  stores: readonly Store[],
  histories: number,
): Promise<string | undefined> {
  const apis = await Promise.all(stores.map((store) => startApi({ store })));
  try {
    using racers = new Racers(apis.map((api) => api.server.url));
    for (let n = 0; n < histories; n++) {
      const wrong = await racers.race(usual);
      if (wrong !== undefined) return wrong;
    }
    expect(racers.counts.operations).to.equal(histories * usual.clients * usual.requests);
    return undefined;
  } finally {
    await Promise.all(apis.map((api) => api[Symbol.asyncDispose]()));
  }
}

await describeOnMongodb('histories of 20 clients racing for three records', () => {
  const database = useDatabase();

  it('are linearizable with two servers on one database', async function race() {
    this.timeout(60_000);
    expect(await firstWrong([database.open(), database.open()], 20)).to.equal(undefined);
  });

  it('are not linearizable on a store that loses updates', async function race() {
    this.timeout(60_000);
    expect(await firstWrong([openFaulty()], 20)).to.match(/^No order explains this record/);
  });
});
