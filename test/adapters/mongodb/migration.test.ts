import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { MongodbRefusal, openMongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { migrate } from '../../../src/adapters/mongodb/migration/migration.ts';
import {
  collectionNames,
  metaCollection,
} from '../../../src/adapters/mongodb/schema/collections.ts';
import { toStoredPost, toStoredUser } from '../../../src/adapters/mongodb/schema/documents.ts';
import type { Post } from '../../../src/domain/post.ts';
import { at, post, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn, topologies } from '../../support/mongod/shared.ts';
import { until, untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';
import { fillVersion1, oldPost, oldUser } from './version-1.ts';

const silent = { info: () => {}, warn: () => {} };

for (const topology of topologies) {
  await describeOn(topology, 'A database of version 1', () => {
    const database = useDatabase(topology);
    const stored = (name: 'users' | 'posts') =>
      database.db.collection<{ _id: string }>(collectionNames[name]);
    const old = (name: 'users' | 'posts') => database.db.collection<{ _id: string }>(name);

    beforeEach(() => database.db.dropDatabase());

    const ready = (store: { ready(): Promise<void> }) => untilServed(() => store.ready());

    it('becomes one of this version, whose records are at the version that they were', async () => {
      const { publishedAt: _, ...plain } = post({ id: 'plain', title: 'ÉTÉ at the İstanbul café' });
      const own = {
        plain: [plain, plain.createdAt],
        canonical: [{ ...plain, id: 'canonical', publishedAt: at(7) }, at(7)],
        offset: [
          { ...plain, id: 'offset', publishedAt: '2026-11-21t11:30:00.12345+02:00' },
          '2026-11-21T09:30:00.123Z',
        ],
        draft: [{ ...plain, id: 'draft', publishedAt: null }, null],
      } as const;
      const writer = user({ name: 'Ærøskøbing' });
      await fillVersion1(database.db, {
        users: [oldUser(writer, 4)],
        posts: Object.values(own).map(([fields], n) => oldPost(fields, n + 1)),
      });
      const store = database.open();
      await ready(store);
      for (const [n, [id, [fields, publishedAt]]] of Object.entries(own).entries()) {
        const read = await store.posts.get(id);
        expect(read?.record, id).to.deep.equal({ ...fields, publishedAt });
        expect(read?.version, id).to.equal(n + 1);
        // All of it, as if it were stored now.
        expect(await stored('posts').findOne({ _id: id })).to.deep.equal(
          toStoredPost({ ...fields, publishedAt } as Post, n + 1),
        );
      }
      expect(await store.users.get(writer.id)).to.deep.include({ version: 4, record: writer });
      const order = { by: 'name', direction: 'asc' } as const;
      const page = { order, limit: 5, bytes: 10_000 };
      const found = await store.users.list({ ...page, filter: { nameStartsWith: 'ærØ' } });
      expect(found.items).to.have.lengthOf(1);
    });

    it('lets nothing in that servers of its version do, and none of them start', async () => {
      const [one, other] = [user(), user()];
      await fillVersion1(database.db, { users: [oldUser(one)], posts: [] });
      await ready(database.open());
      for (const name of ['users', 'posts'] as const) {
        const [{ _id, ...fields }, records] = [oldUser(other), old(name)];
        const calls = {
          get: () => records.findOne({ _id: one.id }),
          count: () => records.countDocuments({ 'record.authorId': one.id }),
          list: () =>
            records.find({}, { hint: 'createdAt' }).sort({ 'record.createdAt': 1 }).toArray(),
          insert: () => records.insertOne({ _id, ...fields }),
          update: () => records.updateOne({ _id: one.id }, { $set: { version: 2 } }),
          upsert: () => records.updateOne({ _id }, { $set: fields }, { upsert: true }),
          delete: () => records.deleteOne({ _id: one.id }),
          index: () => records.createIndex({ 'record.title': 1 }),
        };
        for (const [what, call] of Object.entries(calls)) {
          expect(await errorOf(call()), what).to.be.instanceOf(Error);
        }
      }
      const meta = database.db.collection<{ _id: string }>(metaCollection);
      expect(await meta.findOne()).to.deep.equal({ _id: 'schema', version: 2 });
    });

    it('goes on wherever it was killed', async function () {
      this.timeout(120_000);
      const writer = user();
      const posts = times(3, (n) => post({ id: `p${n}`, authorId: writer.id, createdAt: at(n) }));
      let commands = 0;
      for (let isDone = false, most = 1; !isDone; most++) {
        await database.db.dropDatabase();
        const before = posts.map(({ publishedAt: _, ...fields }) => oldPost(fields, 3));
        await fillVersion1(database.db, { users: [oldUser(writer, 2)], posts: before });
        commands = 0;
        const client = new MongoClient(database.url, { monitorCommands: true, retryWrites: false });
        client.on('commandStarted', () => {
          if (++commands > most) throw new Error('The process is dead.');
        });
        const died = await errorOf(migrate(client.db(), 'dying', silent)).catch(() => undefined);
        isDone = died === undefined;
        await client.close().catch(() => {});
        // Under the same name, the lease of the one that died need not run out.
        await migrate(database.db, 'dying', silent);
        const read = await stored('posts').find().sort({ 'record.createdAt': 1 }).toArray();
        const after = posts.map((one) => toStoredPost({ ...one, publishedAt: one.createdAt }, 3));
        expect(read, `after ${most} commands`).to.deep.equal(after);
        expect(await stored('users').find().toArray()).to.deep.equal([toStoredUser(writer, 2)]);
        const meta = database.db.collection<{ _id: string }>(metaCollection);
        expect(await meta.findOne()).to.deep.equal({ _id: 'schema', version: 2 });
      }
      expect(commands).to.be.greaterThan(10);
    });
  });
}

await describeOn('replica set', 'The migration of a MongoDB database', () => {
  const database = useDatabase('replica set');
  const posts = () => database.db.collection<{ _id: string }>(collectionNames.posts);

  beforeEach(() => database.db.dropDatabase());

  it('is one server’s, where several start; the others wait for it, and say so', async function () {
    this.timeout(60_000);
    const all = times(3000, (n) => oldPost({ ...post({ id: `p${n}` }), publishedAt: undefined }));
    await fillVersion1(database.db, { users: [], posts: all });
    const lines: string[] = [];
    const info = (_: object, message: string) => void lines.push(message);
    const logger = { info, warn: info, error: info };
    const stores = times(4, () => openMongodbStore({ url: database.url, logger }));
    try {
      await Promise.all(stores.map((store) => untilServed(() => store.ready())));
      const migrated = await posts().countDocuments({ titleKey: { $exists: true } });
      expect(migrated).to.equal(3000);
      expect(lines.filter((line) => line.endsWith('this one waits for it.'))).to.have.lengthOf(3);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });

  it('goes on behind the last record that it said it had done', async () => {
    await fillVersion1(database.db, {
      users: [],
      posts: times(4, (n) => oldPost(post({ id: `p${n}` }))),
    });
    const meta = database.db.collection<{ _id: string }>(metaCollection);
    const progress = { holder: 'another', until: new Date(0), posts: 'p1' };
    await meta.updateOne({ _id: 'schema' }, { $set: { version: 2, migration: progress } });
    await migrate(database.db, 'one', silent);
    const migrated = await posts()
      .find({ titleKey: { $exists: true } })
      .toArray();
    expect(migrated.map(({ _id }) => _id)).to.deep.equal(['p2', 'p3']);
  });

  it('changes no version, no updatedAt, and no more than the new fields', async () => {
    await fillVersion1(database.db, {
      users: [oldUser(user())],
      posts: times(2, () => oldPost(post({ body: '', publishedAt: undefined }))),
    });
    const { operationTime } = await database.db.command({ ping: 1 });
    await untilServed(() => database.open().ready());
    const seen: string[] = [];
    const stream = database.db.watch([], { startAtOperationTime: operationTime });
    while (seen.length < 7) {
      const event = await stream.next();
      if (event.operationType === 'replace') seen.push('all');
      if (event.operationType !== 'update' || event.ns.coll === metaCollection) continue;
      seen.push(...Object.keys(event.updateDescription.updatedFields ?? {}));
    }
    await stream.close();
    const fields = ['nameKey', 'titleKey', 'publishedKey', 'record.publishedAt'];
    expect(new Set(seen)).to.deep.equal(new Set(fields));
  });

  it('is refused, with nothing changed, where publishedAt says something else', async function () {
    this.timeout(60_000);
    const odd = ['yesterday', '', true, 7, {}, ['2026-11-21T09:30:00Z'], '2026-02-30T00:00:00Z'];
    const all = odd.map((publishedAt, n) => oldPost({ ...post({ id: `p${n}` }), publishedAt }));
    const fine = oldPost(post({ id: 'a' }));
    await fillVersion1(database.db, { users: [oldUser(user())], posts: [fine, ...all] });
    const names = async () =>
      (await database.db.listCollections().toArray()).map(({ name }) => name).sort();
    const old = database.db.collection<{ _id: string }>('posts');
    const before = [await names(), await old.find().toArray()];
    const store = database.open();
    let refusal: unknown;
    await until(async () => {
      refusal = ((await errorOf(store.ready())) as Error).cause;
      return refusal instanceof MongodbRefusal;
    }, 'the reason is told');
    expect((refusal as Error).message).to.match(
      /"publishedAt" is neither .* \("p0", "p1", "p2", "p3", "p4", 2 more\)/,
    );
    expect([await names(), await old.find().toArray()]).to.deep.equal(before);
    const meta = database.db.collection<{ _id: string }>(metaCollection);
    expect(await meta.findOne()).to.include({ version: 1 });

    await old.updateMany({}, { $set: { 'record.publishedAt': null } });
    await untilServed(() => store.ready());
    expect(await posts().countDocuments({ publishedKey: '' })).to.equal(8);
  });

  it('brings along what a server made between the two steps that shut it out', async () => {
    const made = times(4, () => oldUser(user()));
    const [first, second, third] = made;
    await fillVersion1(database.db, { users: made.slice(0, 2), posts: [] });
    await database.db.collection('users').rename(collectionNames.users);
    // One has the id of another.
    const strays = [third, { ...first, version: 9 }] as { _id: string }[];
    await database.db.collection<{ _id: string }>('users').insertMany(strays);
    const store = database.open();
    await untilServed(() => store.ready());
    for (const one of [first, second, third]) {
      expect(await store.users.get(String(one?._id))).to.include({ version: 1 });
    }
    const left = await database.db.listCollections({ name: /stray/ }).toArray();
    expect(left).to.deep.equal([]);
  });

  it('leaves a collection alone that another program has made', async () => {
    await database.db.collection('users').insertOne({ login: 'ada' });
    const store = database.open();
    await until(async () => {
      const { cause } = (await errorOf(store.ready())) as Error;
      return cause instanceof MongodbRefusal && /"users" is there/.test(cause.message);
    }, 'the reason is told');
    expect(await database.db.collection('users').countDocuments()).to.equal(1);
  });
});
