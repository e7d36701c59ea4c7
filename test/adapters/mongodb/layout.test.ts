import { expect } from 'chai';
import { collectionIndexes } from '../../../src/adapters/mongodb/collections.ts';
import { MongodbStoreError, openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import type { Store } from '../../../src/ports/store.ts';
import { times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { findMongod } from '../../support/mongod/binary.ts';
import { startStandalone, type TestServer } from '../../support/mongod/servers.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { rostrum } from '../../support/server.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

const older =
  'This database was made by an older version of Rostrum. Export it with that version (rostrum export), and ' +
  'import it into a new database with this one (rostrum import --keep-ids --field …).';

await describeOnMongodb('a MongoDB database', () => {
  const database = useDatabase();
  const collection = (name: string) => database.db.collection<{ _id: string }>(name);

  beforeEach(() => database.db.dropDatabase());

  it('gets its indexes even if many stores open it at once', async function () {
    this.timeout(60_000);
    await Promise.all(times(8, () => untilReady(database.open())));
    await untilReady(database.open());
    for (const [name, wanted] of Object.entries(collectionIndexes)) {
      const found = (await collection(name).indexes()).map((index) => index.name);
      expect(new Set(found)).to.deep.equal(new Set(['_id_', ...wanted.map((index) => index.name)]));
    }
  });

  it('has at most two indexes for a declared field', async () => {
    const declaredFields = {
      posts: { slug: { type: 'text', unique: true }, views: 'number', tags: 'text[]' },
    } as const;
    await untilReady(database.open({ declaredFields }));
    const found = (await collection('posts').indexes()).map((index) => index.name ?? '');
    expect(found.filter((name) => name.startsWith('custom'))).to.have.members([
      ...['custom.slug', 'custom.slug.unique'],
      ...['custom.views.createdAt', 'custom.views', 'custom.tags.createdAt'],
    ]);
  });

  it('keeps its declared fields if a later version has changed the layout meanwhile', async () => {
    const store = database.open({ declaredFields: { users: { team: 'text' } } });
    await untilReady(store);
    await collection('rostrum').updateOne({ _id: 'layout' }, { $set: { version: 99 } });
    const error = await errorOf(store.undeclare('users', 'team'));
    expect(error).to.be.instanceOf(MongodbStoreError);
    expect(String(error)).to.include('a later version of Rostrum');
  });

  it('keeps indexes of the operator', async () => {
    await collection('users').createIndex({ 'custom.team': -1 });
    await untilReady(database.open({ declaredFields: { users: { team: 'text' } } }));
    const store = database.open();
    await untilReady(store);
    await store.users.create(user({ team: 'a' }));
    const found = (await collection('users').indexes()).map((index) => index.name);
    expect(found).to.include.members(['custom.team_-1', 'custom.team.createdAt', 'custom.team']);
  });

  const obstacles: Record<string, readonly [() => Promise<unknown>, RegExp | string]> = {
    'an index of the same name on another field': [
      () => collection('users').createIndex({ other: 1 }, { name: 'createdAt' }),
      /^MongoDB cannot build an index on "users" that Rostrum needs/,
    ],
    'an index of the same name that is not unique': [
      () => collection('users').createIndex({ emailKey: 1 }, { name: 'emailKey_unique' }),
      /^MongoDB cannot build an index on "users"/,
    ],
    'a collection with its own collation': [
      () => database.db.createCollection('posts', { collation: { locale: 'en' } }),
      /^"posts" is not a plain collection/,
    ],
    'a view': [
      () => database.db.createCollection('posts', { viewOn: 'users', pipeline: [] }),
      /^"posts" is not a plain collection/,
    ],
    'a collection of another program': [
      () => collection('posts').insertOne({ _id: 'x' }),
      /^The collection "posts" has documents from another program/,
    ],
    'a layout of a later version': [
      () => collection('rostrum').insertOne({ _id: 'layout', version: 99 } as { _id: string }),
      /^This database was made by a later version of Rostrum/,
    ],
    'the layout of an older version': [
      () => collection('rostrum').insertOne({ _id: 'layout', version: 1 } as { _id: string }),
      older,
    ],
  };
  for (const [what, [plant, sentence]] of Object.entries(obstacles)) {
    it(`is rejected if it has ${what}, and accepted once that is gone`, async function () {
      this.timeout(60_000);
      await plant();
      const lines: string[] = [];
      const store = database.open({ logger: logTo(lines) });
      const { message } = await refusalOf(store);
      if (typeof sentence === 'string') expect(message).to.equal(sentence);
      else expect(message).to.match(sentence);
      expect(lines).to.deep.equal([`error: ${message}`]);
      await database.db.dropDatabase();
      await untilReady(store);
    });
  }

  it('makes the program exit with a one-sentence error if it is rejected', async function () {
    this.timeout(60_000);
    await collection('rostrum').insertOne({ _id: 'layout', version: 1 } as { _id: string });
    const { code, output } = await rostrum('--store', database.url);
    expect(code, output).to.equal(1);
    expect(output).to.match(/^--store is "mongodb:.*made by an older version.*$/m);
  });
});

await describeOnMongodb('a standalone MongoDB server', () => {
  let server: TestServer | undefined;
  let url: string;
  before(async function start() {
    const binary = await findMongod();
    if (binary === undefined) return this.skip();
    server = await startStandalone(binary);
    url = server.url('alone');
  });
  after(() => server?.[Symbol.asyncDispose]());

  // Lines of the log, on another stream, can come before it or after it.
  const sentence = /is standalone.*--replSet rs0.*rs\.initiate\(\).*replica set of one\.$/m;

  it('makes the program exit with instructions to convert it to a replica set', async function () {
    this.timeout(60_000);
    const { code, output } = await rostrum('--store', url);
    expect(code, output).to.equal(1);
    expect(output.trimEnd()).to.match(sentence);
  });

  it('makes every call of an embedded store fail with the same instructions', async () => {
    await using store = openMongodbStore({ url });
    expect((await refusalOf(store)).message).to.match(sentence);
    expect(isRostrumError(await errorOf(store.users.get('x')), 'store-unavailable')).to.equal(true);
  });
});

const untilReady = (store: Store) => untilServed(() => store.ready(), 50_000);

/** Waits until the store knows why it cannot open: on a busy machine, a call can fail before that. */
async function refusalOf(store: Store): Promise<MongodbStoreError> {
  let cause: unknown;
  await until(async () => {
    const error = await errorOf(store.ready());
    expect(isRostrumError(error, 'store-unavailable'), String(error)).to.equal(true);
    cause = (error as Error).cause;
    return cause instanceof MongodbStoreError;
  }, 'the reason is known');
  return cause as MongodbStoreError;
}

function logTo(lines: string[]): Logger {
  const say = (level: string) => (_fields: object, message: string) => {
    lines.push(`${level}: ${message}`);
  };
  return { info: () => {}, warn: say('warn'), error: say('error') };
}
