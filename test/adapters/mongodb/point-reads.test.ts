import { once } from 'node:events';
import { expect } from 'chai';
import { BSONRegExp, type Collection, MongoClient } from 'mongodb';
import { PointReads } from '../../../src/adapters/mongodb/point-reads.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import { type StoredPost, toStoredPost } from '../../../src/adapters/mongodb/schema/documents.ts';
import { post, times } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

await describeOn('replica set', 'Reads of single documents', () => {
  const database = useDatabase('replica set');
  let client: MongoClient;
  let posts: Collection<StoredPost>;
  const records = times(20, (n) => post({ id: `p${n}` }));
  /** The ids that each command asked for. */
  let commands: unknown[][];

  beforeEach(async () => {
    commands = [];
    client = new MongoClient(database.url, { monitorCommands: true });
    client.on('commandStarted', ({ commandName, command }) => {
      if (commandName === 'getMore') commands.push([]);
      if (commandName !== 'find') return;
      const { _id } = command.filter;
      commands.push(typeof _id === 'string' ? [_id] : _id.$in);
    });
    posts = client.db().collection<StoredPost>(collectionNames.posts);
    await database.clear();
    await posts.insertMany(records.map((record, n) => toStoredPost(record, n)));
  });

  afterEach(() => client.close());

  const readsOf = (isSharded = false) => new PointReads<StoredPost>({ isSharded }, posts, {});

  it('share a command in one turn, and each gets its own', async () => {
    const reads = readsOf();
    const ids = [...times(20, (n) => `p${n}`), 'p3', 'none', 'p3'];
    const found = await Promise.all(ids.map((id) => reads.read(id)));
    for (const [n, id] of ids.entries()) {
      expect(found[n]?.stored._id).to.equal(id === 'none' ? undefined : id);
    }
    expect(found[3]?.stored.version).to.equal(3);
    expect(found[3]?.json).to.equal(JSON.stringify(records[3]));
    expect(commands.map((asked) => asked.length)).to.have.members([16, 6]);
  });

  it('have one each on a sharded cluster, where a shard may fail alone', async () => {
    const reads = readsOf(true);
    await Promise.all([reads.read('p1'), reads.read('p2')]);
    expect(commands).to.have.deep.members([['p1'], ['p2']]);
  });

  it('do not join a command that is under way: it may not see what was acknowledged since', async () => {
    const reads = readsOf();
    const before = reads.read('p1');
    await once(client, 'commandStarted');
    await Promise.all([before, reads.read('p1')]);
    expect(commands).to.deep.equal([['p1'], ['p1']]);
  });

  it('ask again for what did not fit in one reply', async () => {
    const body = 'x'.repeat(6 * 1024 * 1024);
    const large = times(5, (n) => post({ id: `z${n}`, body }));
    for (const record of large) await posts.insertOne(toStoredPost(record, 1));
    const reads = readsOf();
    const ids = [...large.map(({ id }) => id), 'p1', 'none'];
    const found = await Promise.all(ids.map((id) => reads.read(id)));
    const texts = [...large, records[1]].map((record) => JSON.stringify(record));
    for (const [n, text] of texts.entries()) expect(found[n]?.json === text).to.equal(true);
    expect(found.at(-1)).to.equal(undefined);
    expect(commands.map((asked) => asked.length)).to.deep.equal([7, 4, 2, 1]);
  });

  it('hand over what is small first', async () => {
    await posts.insertOne(toStoredPost(post({ id: 'a', body: 'x'.repeat(100_000) }), 1));
    const reads = readsOf();
    const order: string[] = [];
    await Promise.all(['a', 'p1'].map((id) => reads.read(id).then(() => order.push(id))));
    expect(order).to.deep.equal(['p1', 'a']);
  });

  it('fail alone where a document cannot be parsed, as another tool may have left it', async () => {
    const unreadable = post({ id: 'bad', own: new BSONRegExp('(') as never });
    await posts.insertOne(toStoredPost(unreadable, 1));
    const reads = readsOf();
    const ids = ['p1', 'bad', 'none', 'p2'];
    const [one, bad, none, two] = await Promise.allSettled(ids.map((id) => reads.read(id)));
    expect(commands).to.have.lengthOf(1);
    expect(bad).to.have.property('reason').that.is.instanceOf(SyntaxError);
    expect(none).to.deep.equal({ status: 'fulfilled', value: undefined });
    for (const found of [one, two]) expect(found).to.have.property('status', 'fulfilled');
  });

  it('fail together where the command does', async () => {
    await client.close();
    const reads = readsOf();
    const found = await Promise.allSettled([reads.read('p1'), reads.read('p2'), reads.read('p1')]);
    expect(found.map(({ status }) => status)).to.deep.equal(times(3, () => 'rejected'));
  });
});
