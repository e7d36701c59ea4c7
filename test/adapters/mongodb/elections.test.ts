import { expect } from 'chai';
import { Call } from '../../../src/adapters/mongodb/connection/call.ts';
import { PrimaryWatch } from '../../../src/adapters/mongodb/connection/primary-watch.ts';
import type { MongodbStore } from '../../../src/adapters/mongodb/store.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

describe('Reads while MongoDB elects a primary', () => {
  const said: string[] = [];
  const watch = new PrimaryWatch(async () => said.push('caught up'));
  const call = () => new Call(watch, (_step, run) => run());
  const elect = (electionId: number) =>
    watch.see([{ type: 'RSPrimary', address: 'a', electionId }]);
  const read = async () => said.push('read');

  beforeEach(() => {
    said.length = 0;
  });

  it('wait until the primary is caught up', async () => {
    elect(1);
    await call().read(read);
    await call().read(read);
    expect(said).to.deep.equal(['caught up', 'read', 'read']);
  });

  it('are made again by the new one when there was an election meanwhile', async () => {
    const found = await call().read(async () => {
      if (said.length === 0) elect(2);
      return read();
    });
    expect(said).to.deep.equal(['read', 'caught up', 'read']);
    expect(found).to.equal(3);
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
