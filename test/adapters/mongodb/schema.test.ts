import { expect } from 'chai';
import {
  MongodbRefusal,
  type MongodbStore,
  openMongodbStore,
} from '../../../src/adapters/mongodb/index.ts';
import {
  collectionNames,
  metaCollection,
} from '../../../src/adapters/mongodb/schema/collections.ts';
import { indexes } from '../../../src/adapters/mongodb/schema/indexes.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { rostrum } from '../../support/server.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

await describeOn('replica set', 'The schema of a MongoDB store', () => {
  const database = useDatabase('replica set');

  beforeEach(() => database.db.dropDatabase());

  it('is made by many stores that start at once, and is there for the next', async () => {
    await Promise.all(times(8, () => untilReady(database.open())));
    await untilReady(database.open());
    for (const [resource, wanted] of Object.entries(indexes)) {
      const name = collectionNames[resource as keyof typeof indexes];
      const found = await database.db.collection(name).indexes();
      expect(found.map(({ name }) => name)).to.have.members(['_id_', ...Object.keys(wanted)]);
    }
  });

  it('leaves indexes alone that a deployment has made for its custom fields', async () => {
    await database.db.collection(collectionNames.users).createIndex({ 'record.team': 1 });
    const store = database.open();
    await untilReady(store);
    await store.users.create(user({ team: 'a' }));
    expect(
      await database.db.collection(collectionNames.users).indexExists('record.team_1'),
    ).to.equal(true);
  });

  const conflicts: Record<string, () => Promise<unknown>> = {
    'an index of the same name on another field': () =>
      database.db.collection(collectionNames.users).createIndex({ other: 1 }, { name: 'claims' }),
    'an index of the same name that is not unique': () =>
      database.db
        .collection(collectionNames.users)
        .createIndex(
          { emailKey: 1 },
          { name: 'email_unique', partialFilterExpression: { emailKey: { $gt: '' } } },
        ),
    'an index of another name on the same keys': () =>
      database.db.collection(collectionNames.users).createIndex({ emailKey: 1 }, { unique: true }),
    'a collection with an order of its own': () =>
      database.db.createCollection(collectionNames.posts, {
        collation: { locale: 'en', strength: 2 },
      }),
    'what a later version wrote': () =>
      database.db.collection<{ _id: string }>(metaCollection).insertOne(later),
    'a view': () =>
      database.db.createCollection(collectionNames.posts, { viewOn: 'users', pipeline: [] }),
  };
  it('ends the program in a sentence when it can never be used', async function () {
    this.timeout(60_000);
    await database.db.collection<{ _id: string }>(metaCollection).insertOne(later);
    const { code, output } = await rostrum('--store', database.url);
    expect(code, output).to.equal(1);
    expect(output).to.match(/\n--store is "mongodb:[^\n]*later version[^\n]*\n$/);
  });

  for (const [what, plant] of Object.entries(conflicts)) {
    it(`is refused where there is ${what}, and taken when that is gone`, async function () {
      this.timeout(60_000);
      await plant();
      const lines: string[] = [];
      const logger = logTo(lines);
      const store = openMongodbStore({ url: database.url, logger });
      try {
        // On a busy machine, a call may end before the reason is known.
        await until(async () => {
          const error = await errorOf(store.ready());
          expect(isRostrumError(error, 'store-unavailable'), String(error)).to.equal(true);
          return (error as Error).cause instanceof MongodbRefusal;
        }, 'the reason is told');
        expect(lines).to.have.lengthOf(1);
        expect(lines[0]).to.match(/^error: .*(users|posts|later version)/);

        await database.db.dropDatabase();
        await untilReady(store);
      } finally {
        await store.close();
      }
    });
  }
});

const untilReady = (store: MongodbStore) => untilServed(() => store.ready());

const later = { _id: 'schema', version: 3 };

function logTo(lines: string[]): Logger {
  const say = (level: string) => (_fields: object, message: string) => {
    lines.push(`${level}: ${message}`);
  };
  return { info: () => {}, warn: say('warn'), error: say('error') };
}
