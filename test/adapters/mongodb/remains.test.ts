import { expect } from 'chai';
import { type Document, Long } from 'mongodb';
import { readUrl } from '../../../src/adapters/mongodb/connection/client-options.ts';
import { Connection } from '../../../src/adapters/mongodb/connection/connection.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import { sweep } from '../../../src/adapters/mongodb/sweep.ts';
import { isRostrumError, storeUnavailable } from '../../../src/domain/errors.ts';
import { at, post, receipt, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// What stays behind in the database, for how long, and which calls it holds up.
await describeOn('replica set', 'What a MongoDB store leaves behind', () => {
  const database = useDatabase('replica set');
  const collection = (name: 'users' | 'posts') =>
    database.db.collection<Stored>(collectionNames[name]);

  const outlived = { $set: { 'claims.$[].expires': new Date(0) } };
  const sweepOnce = async (): Promise<number> => {
    const connection = new Connection(readUrl(database.url), undefined, (_step, run) => run());
    return sweep(connection).finally(() => connection.close());
  };

  beforeEach(() => database.clear());

  it('of a deleted record its id alone, and receipts until they are swept', async () => {
    const store = database.open();
    const [plain, repeated, once] = [user(), user(), receipt()];
    await store.users.create(plain);
    await store.users.create(repeated, once);
    await store.users.delete(plain.id, 'refuse', at(0));
    await store.users.delete(repeated.id, 'refuse', at(0));
    const left = () =>
      Promise.all([plain, repeated].map((made) => collection('users').findOne({ _id: made.id })));

    expect(await collection('users').countDocuments()).to.equal(2);
    const [id, tombstone] = await left();
    expect(id).to.deep.equal({ _id: plain.id });
    expect(tombstone).to.have.keys(['_id', 'claims']);

    await collection('users').updateOne({ _id: repeated.id }, outlived);
    await sweepOnce();
    expect((await left()).map((document) => ({ claims: [], ...document }))).to.deep.equal([
      { _id: plain.id, claims: [] },
      { _id: repeated.id, claims: [] },
    ]);
    expect(await store.users.create(user(), once)).to.include({ replayed: false });
  });

  it('outlived receipts are swept from records, and nothing else of them', async () => {
    const store = database.open();
    const [record, once] = [post(), receipt()];
    await store.posts.create(record, once);
    const stored = await store.posts.update(record.id, (current) => ({ ...current.record, n: 1 }));
    expect(await sweepOnce()).to.equal(0);
    expect((await store.posts.create(post(), once)).record).to.deep.equal(record);
    await collection('posts').updateOne({ _id: record.id }, outlived);
    expect(await sweepOnce()).to.equal(1);
    expect((await store.posts.get(record.id))?.json).to.equal(stored?.json);
    expect(await store.posts.create(post(), once)).to.include({ replayed: false });
  });

  it('a post whose maker died holds up a repeat for a moment only, and is never seen', async () => {
    const store = database.open();
    const author = user();
    await store.users.create(author);
    const dying = database.open({
      intercept: async (step, run) => {
        if (step === 'put') throw storeUnavailable('unknown');
        return run();
      },
    });
    const [record, once] = [post({ authorId: author.id }), receipt()];
    await dying.posts.create(record, once).catch(() => {});
    expect(await store.posts.get(record.id)).to.equal(undefined);
    const order = { by: 'title', direction: 'asc' } as const;
    const page = { filter: {}, order, limit: 5, bytes: 10_000, total: true } as const;
    expect(await store.posts.list(page)).to.deep.equal({ items: [], total: 0 });
    expect(await store.transfer.posts.scan(page)).to.deep.equal([]);

    const results = await Promise.all(
      times(4, () => store.posts.create(post({ authorId: author.id }), once)),
    );
    expect(results.filter(({ replayed }) => !replayed)).to.have.lengthOf(1);
    expect(await store.posts.list(page)).to.include({ total: 1 });
  });

  it('a user whose deleter died is held up for a lease only', async function () {
    this.timeout(60_000);
    const store = database.open();
    const author = user();
    await store.users.create(author);
    const dying = database.open({
      intercept: async (step, run) => {
        if (step === 'user' || step === 'unleave') throw storeUnavailable('unknown');
        return run();
      },
    });
    await dying.users.delete(author.id, 'refuse', at(0)).catch(() => {});
    expect((await store.users.get(author.id))?.record).to.deep.equal(author);
    const written = post({ authorId: author.id });
    await store.posts.create(written);
    await store.users.update(author.id, ({ record }) => ({ ...record, name: 'Eve' }));
    expect((await store.posts.get(written.id))?.record).to.deep.equal(written);
  });

  it('numbers that another tool wrote in another type of BSON are numbers', async () => {
    const store = database.open();
    const record = post({ big: 1, small: 2 });
    await store.posts.create(record);
    const change = {
      $set: { version: Long.fromNumber(3), 'record.big': Long.fromNumber(2 ** 40) },
    };
    await collection('posts').updateOne({ _id: record.id }, change as Document);
    const read = await store.posts.get(record.id);
    expect(read?.record).to.deep.equal({ ...record, big: 2 ** 40 });
    expect(read?.version).to.equal(3);
    const changed = await store.posts.update(record.id, (current) => ({ ...current.record, n: 1 }));
    expect(changed?.version).to.equal(4);
  });
});

await describeOn('standalone', 'A deletion on a MongoDB server without transactions', () => {
  const database = useDatabase('standalone');

  it('has an unknown outcome when it changed posts, lost its mark, and then failed', async () => {
    let leaving = 0;
    const store = database.open({
      intercept: async (step, run) => {
        if (step === 'leave' && leaving++ > 0) throw storeUnavailable('none');
        if (step === 'user') {
          await database.db
            .collection(collectionNames.users)
            .updateMany({}, { $unset: { leaving: true } });
        }
        return run();
      },
    });
    const [author, written] = [user(), post()];
    await store.users.create(author);
    await store.posts.create({ ...written, authorId: author.id });
    const error = await errorOf(store.users.delete(author.id, 'keep', at(0)));
    if (!isRostrumError(error, 'store-unavailable')) throw error;
    expect(error.details.outcome).to.equal('unknown');
    expect((await store.posts.get(written.id))?.record.authorId).to.equal(null);
  });
});

interface Stored {
  readonly _id: string;
  readonly expires?: Date;
}
