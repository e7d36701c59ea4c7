import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Store } from '../../src/index.ts';
import { startApi } from '../adapters/http/support/api.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { Racers, usual } from './history.ts';
import { losingStore } from './lost-update.ts';

describe('histories of 20 clients who race for three records', function () {
  this.timeout(60_000);

  /** @returns the first record that no order explains */
  async function firstWrong(store: Store, histories: number): Promise<string | undefined> {
    await using api = await startApi({ store });
    using racers = new Racers([api.server.url]);
    for (let n = 0; n < histories; n++) {
      const wrong = await racers.race(usual);
      if (wrong !== undefined) return wrong;
    }
    expect(racers.counts.operations).to.equal(histories * usual.clients * usual.requests);
    return undefined;
  }

  it('are linearizable on memory', async () => {
    expect(await firstWrong(createMemoryStore(), 20)).to.equal(undefined);
  });

  it('are linearizable on SQLite', async () => {
    expect(await firstWrong(openTemporarySqlite(), 20)).to.equal(undefined);
  });

  it('are not linearizable on a store that loses updates', async () => {
    expect(await firstWrong(losingStore(), 20)).to.match(/^No order explains this record/);
  });
});
