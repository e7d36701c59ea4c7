import { expect } from 'chai';
import { Call, Primary } from '../../../src/adapters/mongodb/connection/call.ts';
import type { Store } from '../../../src/ports/store.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

describe('reads while MongoDB elects a primary', () => {
  let said: string[];
  let primary: Primary;
  const elect = (electionId: number, address = 'a') =>
    primary.observe([{ type: 'RSPrimary', address, electionId }]);
  const read = (meanwhile = () => {}) =>
    new Call(primary).read(async () => {
      said.push('read');
      meanwhile();
    });

  beforeEach(() => {
    said = [];
    primary = new Primary(async () => said.push('confirmed'));
  });

  it('wait until the primary has confirmed its term, once', async () => {
    elect(1);
    await Promise.all([read(), read()]);
    await read();
    expect(said).to.deep.equal(['confirmed', 'read', 'read', 'read']);
  });

  it('are repeated if another primary is elected meanwhile', async () => {
    elect(1);
    await read(() => elect(2));
    expect(said).to.deep.equal(['confirmed', 'read', 'confirmed', 'read']);
  });

  it('recognize a new term by its election id or server, but not a reconnected primary', () => {
    const servers = [
      ['RSPrimary', 'a', 1],
      ['Unknown', 'a', null],
      ['RSPrimary', 'a', 1],
      ['RSPrimary', 'a', 2],
      ['RSPrimary', 'b', 2],
      ['RSSecondary', 'b', null],
    ] as const;
    const terms = servers.map(([type, address, electionId]) => {
      primary.observe([{ type, address, electionId }]);
      return primary.term;
    });
    const [first, gone, back, ...others] = terms;
    expect([gone, back]).to.have.ordered.members([first, first]);
    expect(new Set([first, ...others])).to.have.property('size', 4);
  });

  it('ask the primary again if the confirmation failed', async () => {
    let answers = 0;
    primary = new Primary(async () => {
      if (++answers === 1) throw new Error('planted');
    });
    elect(1);
    expect(String(await errorOf(read()))).to.equal('Error: planted');
    await read();
    expect(answers).to.equal(2);
  });
});

await describeOnMongodb('a store connected to a new primary', () => {
  const database = useDatabase();

  before(() => database.db.command({ profile: 2 }));

  const query = {
    conditions: [],
    order: { field: 'createdAt', direction: 'desc' },
    limit: 10,
    bytes: 2 ** 20,
  } as const;
  const reads: Record<string, (store: Store, id: string) => Promise<unknown>> = {
    get: (store, id) => store.users.get(id),
    list: (store) => store.users.list(query),
    scan: (store) => store.transfer?.users.scan(query) ?? Promise.reject(),
    lastVersion: (store, id) => store.users.lastVersion(id),
    isFilling: (store) => store.transfer?.isFilling() ?? Promise.reject(),
    ready: (store) => store.ready(),
  };
  for (const [name, read] of Object.entries(reads)) {
    it(`asks it only once to confirm its term for many calls of ${name}`, async () => {
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
