import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { Call, type Sight, type Term } from '../../../src/adapters/mongodb/connection/call.ts';
import { Sightings } from '../../../src/adapters/mongodb/connection/sightings.ts';
import { isRostrumError, storeUnavailable } from '../../../src/domain/errors.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

/** Servers of which a test says who is the primary, and when that one is caught up. */
class Elections implements Sight {
  readonly blindSince = undefined;
  readonly said: string[] = [];
  term: Term = { isCaughtUp: true };
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
    const client = new MongoClient('mongodb://127.0.0.1:1');
    const sightings = new Sightings(client, 'x');
    const terms = [
      ['RSPrimary', 'a', 1],
      ['Unknown', 'a', null],
      ['RSPrimary', 'a', 1],
      ['RSPrimary', 'a', 2],
      ['RSPrimary', 'b', 2],
    ].map(([type, address, electionId]) => {
      const newDescription = { servers: new Map([[address, { type, address, electionId }]]) };
      client.emit('topologyDescriptionChanged', { newDescription } as never);
      return sightings.term;
    });
    const [first, gone, back, again, other] = terms;
    expect([gone, back]).to.have.ordered.members([first, first]);
    expect(new Set([first, again, other])).to.have.property('size', 3);
    for (const { isCaughtUp } of terms) expect(isCaughtUp).to.equal(false);
    await client.close();
  });
});

await describeOn('replica set', 'A store on a primary that it has not met', () => {
  const database = useDatabase('replica set');

  it('asks once whether it is caught up, however many read', async () => {
    await database.db.command({ profile: 2 });
    const store = database.open();
    const record = user();
    await store.users.create(() => record);
    const found = await Promise.all(times(50, () => store.users.get(record.id)));
    for (const one of found) expect(one?.record).to.deep.equal(record);
    await store.users.get(record.id);
    const asked = { 'command.readConcern.level': 'linearizable' };
    expect(await database.db.collection('system.profile').countDocuments(asked)).to.equal(1);
  });
});
