import { expect } from 'chai';
import { type Collection, type InsertOneOptions, MongoClient } from 'mongodb';
import { DuplicateKey, translate } from '../../../src/adapters/mongodb/connection/errors.ts';
import { Inserts } from '../../../src/adapters/mongodb/inserts.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import { type StoredPost, toStoredPost } from '../../../src/adapters/mongodb/schema/documents.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { post, times } from '../../../src/testing/fixtures.ts';
import { OutageProxy } from '../../support/mongod/outage-proxy.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

await describeOn('replica set', 'Insertions of single documents', () => {
  const database = useDatabase('replica set');
  let client: MongoClient;
  let posts: Collection<StoredPost>;
  /** How many documents each command had. */
  let commands: number[];
  /** What the driver meets when it sends the next ones. */
  let failure: Error | undefined;

  beforeEach(async () => {
    commands = [];
    failure = undefined;
    const options = { writeConcern: { w: 'majority', journal: true } } as const;
    client = new MongoClient(database.url, { monitorCommands: true, ...options });
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName !== 'insert') return;
      commands.push(command.documents.length);
      if (failure !== undefined) throw failure;
    });
    posts = client.db().collection<StoredPost>(collectionNames.posts);
    await database.clear();
    await posts.createIndex({ 'record.title': 1 }, { unique: true, name: 'one_title' });
  });

  afterEach(async () => {
    await database.db.dropCollection(collectionNames.posts);
    await client.close();
  });

  const stored = (n: number, title = `Title ${n}`) => toStoredPost(post({ id: `p${n}`, title }), 1);

  interface Way {
    readonly collection?: Collection<StoredPost>;
    readonly options?: InsertOneOptions;
    readonly isSharded?: boolean;
  }

  /** What becomes of each, as the store sees it: `inserted`, or why not. */
  async function insert(
    documents: readonly StoredPost[],
    { collection = posts, options = {}, isSharded = false }: Way = {},
  ): Promise<string[]> {
    const inserts = new Inserts<StoredPost>({ isSharded }, collection, options);
    const outcomes = documents.map((document) =>
      inserts.insert(document, JSON.stringify(document.record).length).then(
        () => 'inserted',
        (reason: unknown) => {
          const error = translate(reason, 'unknown');
          if (error instanceof DuplicateKey) return error.field;
          return isRostrumError(error) ? error.code : String(error);
        },
      ),
    );
    return Promise.all(outcomes);
  }

  it('share a command in one turn', async () => {
    expect(await insert(times(20, (n) => stored(n)))).to.deep.equal(times(20, () => 'inserted'));
    expect(commands).to.have.members([16, 4]);
    expect(await posts.countDocuments()).to.equal(20);
  });

  it('have one each on a sharded cluster, where a shard may fail alone', async () => {
    await insert([stored(0), stored(1)], { isSharded: true });
    expect(commands).to.deep.equal([1, 1]);
  });

  it('are refused alone, each for its own reason, and the others are made', async () => {
    await posts.insertOne(stored(0, 'Taken'));
    const documents = [stored(1), stored(0, 'New'), stored(2), stored(3, 'Taken'), stored(2)];
    expect(await insert(documents)).to.deep.equal(
      ['inserted', '_id', 'inserted', 'record.title', '_id'], //
    );
    const ids = await posts
      .find()
      .map(({ _id }) => _id)
      .toArray();
    expect(ids).to.have.members(['p0', 'p1', 'p2']);
  });

  it('are not acknowledged where they are not as durable as was asked for', async () => {
    const options = { writeConcern: { w: 2, wtimeoutMS: 50 } };
    await posts.insertOne(stored(0));
    // There is one node: it has them, and no second one. One is refused besides.
    expect(
      await insert(
        times(3, (n) => stored(n + 1)),
        { options },
      ),
    ).to.deep.equal(times(3, () => 'store-unavailable'));
    expect(await insert([stored(0), stored(4)], { options })).to.deep.equal(
      times(2, () => 'store-unavailable'),
    );
  });

  it('fail together where a socket does, whose errors the driver lets through', async () => {
    for (const code of ['EPIPE', 'ERR_STREAM_DESTROYED']) {
      failure = Object.assign(new Error('write'), { code });
      expect(await insert([stored(0), stored(1)])).to.deep.equal(
        times(2, () => 'store-unavailable'),
      );
    }
  });

  it('have a command each where they are large', async () => {
    const large = (n: number, own: object) => toStoredPost(post({ id: `p${n}`, ...own }), 1);
    const body = 'x'.repeat(20_000);
    const own = [{ body }, { list: times(20_000, () => 1) }, { keys: { [body]: 1 } }];
    const documents = own.map((one, n) => large(n, one));
    await insert([...documents, stored(3), stored(4)]);
    expect(commands).to.have.members([1, 1, 1, 2]);
  });

  it('fail together where it is not known what became of the command', async () => {
    const url = new URL(database.url);
    await using proxy = await OutageProxy.start(Number(url.port));
    url.port = String(proxy.port);
    url.searchParams.set('directConnection', 'true');
    const behind = await new MongoClient(url.href, { retryWrites: false }).connect();
    const collection = behind.db().collection<StoredPost>(collectionNames.posts);
    await collection.findOne();
    proxy.begin('half-open'); // It is carried out, and no reply comes back.
    const outcomes = insert([stored(0), stored(1)], { collection });
    await until(async () => (await posts.countDocuments()) === 2, 'both are there');
    proxy.end();
    expect(await outcomes).to.deep.equal(times(2, () => 'store-unavailable'));
    await behind.close();
  });
});
