import { expect } from 'chai';
import { Call } from '../../../src/adapters/mongodb/connection/call.ts';
import {
  type Primary,
  PrimaryWatch,
} from '../../../src/adapters/mongodb/connection/primary-watch.ts';
import type { MongodbStore } from '../../../src/adapters/mongodb/store.ts';
import { isRostrumError, storeUnavailable } from '../../../src/domain/errors.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

/** Servers of which a test says who is the primary, and when that one is caught up. */
class Elections implements Primary {
  readonly blindSince = undefined;
  readonly said: string[] = [];
  term: Primary['term'] = { isCaughtUp: true };
  catchUp = async (): Promise<void> => {
    this.said.push('caught up');
    this.term.isCaughtUp = true;
  };

  elect(): void {
    this.term = { isCaughtUp: false };
  }

  call(): Call {
    return new Call(this, (_step, run) => run());
  }
}

describe('Reads while MongoDB elects a primary', () => {
  it('wait until the primary is caught up', async () => {
    const elections = new Elections();
    elections.elect();
    await elections.call().read(async () => elections.said.push('read'));
    await elections.call().read(async () => elections.said.push('read'));
    expect(elections.said).to.deep.equal(['caught up', 'read', 'read']);
  });

  it('are made again by the new one, whole, when there was an election meanwhile', async () => {
    const elections = new Elections();
    const call = elections.call();
    const found = await call.readAll(async () => {
      const first = await call.readPart(async () => elections.said.push('first'));
      if (first === 1) elections.elect();
      return call.readPart(async () => elections.said.push('second'));
    });
    expect(elections.said).to.deep.equal(['first', 'second', 'caught up', 'first', 'second']);
    expect(found).to.equal(5);
  });

  it('fail when it does not catch up, and the next one asks again', async () => {
    const elections = new Elections();
    const { catchUp } = elections;
    elections.elect();
    elections.catchUp = () => Promise.reject(storeUnavailable('none'));
    const read = () => elections.call().read(async () => 'read');
    expect(isRostrumError(await errorOf(read()), 'store-unavailable')).to.equal(true);
    elections.catchUp = catchUp;
    expect(await read()).to.equal('read');
    expect(elections.said).to.deep.equal(['caught up']);
  });

  it('know an election by its id, and a primary that was gone for a while as the same', async () => {
    const watch = new PrimaryWatch(async () => {});
    const servers = [
      ['RSPrimary', 'a', 1],
      ['Unknown', 'a', null],
      ['RSPrimary', 'a', 1],
      ['RSPrimary', 'a', 2],
      ['RSPrimary', 'b', 2],
      ['RSSecondary', 'b', null],
    ] as const;
    const terms = servers.map(([type, address, electionId]) => {
      watch.see([{ type, address, electionId }]);
      return watch.term;
    });
    const [first, gone, back, again, other, none] = terms;
    expect([gone, back]).to.have.ordered.members([first, first]);
    expect(new Set([first, again, other, none])).to.have.property('size', 4);
    for (const { isCaughtUp } of terms) expect(isCaughtUp).to.equal(false);
  });

  it('ask once for all that wait, again after a failure, and anew of the next primary', async () => {
    const asked: PromiseWithResolvers<void>[] = [];
    const watch = new PrimaryWatch(() => {
      const answer = Promise.withResolvers<void>();
      asked.push(answer);
      return answer.promise;
    });
    watch.see([{ type: 'RSPrimary', address: 'a', electionId: 1 }]);
    const { term } = watch;
    const [failing, too] = [errorOf(watch.catchUp()), errorOf(watch.catchUp())];
    asked[0]?.reject(new Error('planted'));
    expect([await failing, await too].map(String)).to.deep.equal(Array(2).fill('Error: planted'));
    expect(term.isCaughtUp).to.equal(false);

    const old = watch.catchUp();
    watch.see([{ type: 'RSPrimary', address: 'b', electionId: 2 }]);
    const present = watch.catchUp();
    asked[1]?.resolve();
    await old;
    expect(watch.term.isCaughtUp).to.equal(false);
    const joining = watch.catchUp();
    asked[2]?.resolve();
    await Promise.all([present, joining]);
    expect(watch.term.isCaughtUp).to.equal(true);
    expect(asked).to.have.lengthOf(3);
  });
});

await describeOn('replica set', 'A store on a primary that it has not met', () => {
  const database = useDatabase('replica set');

  before(() => database.db.command({ profile: 2 }));

  const order = { by: 'createdAt', direction: 'desc' } as const;
  const reads: Record<string, (store: MongodbStore, id: string) => Promise<unknown>> = {
    get: (store, id) => store.users.get(id),
    list: (store) => store.users.list({ filter: {}, order, limit: 10, bytes: 2 ** 20 }),
    scan: (store) => store.transfer.users.scan({ limit: 10, bytes: 2 ** 20 }),
    isIdTaken: (store, id) => store.users.isIdTaken(id),
    ready: (store) => store.ready(),
  };
  for (const [name, read] of Object.entries(reads)) {
    it(`asks once whether it is caught up, however many read by ${name}`, async () => {
      const profile = database.db.collection('system.profile');
      const asked = { 'command.readConcern.level': 'linearizable' };
      const before = await profile.countDocuments(asked);
      const store = database.open();
      const record = user();
      await store.users.create(record);
      await Promise.all(times(50, () => read(store, record.id)));
      await read(store, record.id);
      expect(await profile.countDocuments(asked)).to.equal(before + 1);
    });
  }
});
