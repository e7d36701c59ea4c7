import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Document, Long } from 'mongodb';
import { readUrl } from '../../../src/adapters/mongodb/client-options.ts';
import { Connection } from '../../../src/adapters/mongodb/connection.ts';
import { sweep } from '../../../src/adapters/mongodb/sweep.ts';
import { storeUnavailable } from '../../../src/domain/errors.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { claim, post, times, user } from './records.ts';
import { useDatabase } from './store-on.ts';

// What stays behind in the database, for how long, and who is held up by it.
await describeOn('replica set', 'What a MongoDB store leaves behind', () => {
  const database = useDatabase('replica set');
  const collection = (name: 'users' | 'posts') => database.db.collection<Stored>(name);

  beforeEach(async () => {
    await database.clear();
  });

  it('of a deleted record nothing, and with a claim a tombstone that the server removes', async () => {
    const store = database.open();
    const [plain, claimed, once] = [user(), user(), claim()];
    await store.users.create(plain);
    await store.users.create(claimed, once);
    await store.users.delete(plain.id, { posts: 'refuse' });
    await store.users.delete(claimed.id, { posts: 'refuse' });

    const [tombstone, ...others] = await collection('users').find().toArray();
    expect(others).to.deep.equal([]);
    expect(tombstone).to.have.keys(['_id', 'claims', 'expires']);
    expect(tombstone?.expires).to.be.above(new Date(once.until));

    const past = { $set: { expires: new Date(0) } };
    await collection('users').updateOne({ _id: claimed.id }, past);
    await until(async () => (await store.users.replay(once)) === undefined);
    expect(await collection('users').countDocuments()).to.equal(0);
  });

  it('the id of a deleted record can be used again, and the claim still tells of the first', async () => {
    const store = database.open();
    const author = user();
    await store.users.create(author);
    const [first, once, again] = [post({ n: 1, authorId: author.id }), claim(), claim()];
    await store.posts.create(first, once);
    await store.posts.delete(first.id);
    const second = { ...first, n: 2 };
    expect(await store.posts.create(second, again)).to.include({ replayed: false });
    expect((await store.posts.get(first.id))?.record).to.deep.equal(second);
    expect((await store.posts.replay(once))?.record).to.deep.equal(first);
    expect((await store.posts.replay(again))?.record).to.deep.equal(second);
  });

  it('outlived claims are swept from records, and nothing else of them', async () => {
    const store = database.open();
    const [record, once] = [post(), claim()];
    await store.posts.create(record, once);
    const stored = await store.posts.update(record.id, (current) => ({ ...current.record, n: 1 }));
    const connection = new Connection(readUrl(database.url), undefined, (_step, run) => run());
    try {
      expect(await sweep(connection)).to.equal(0);
      expect((await store.posts.replay(once))?.record).to.deep.equal(record);
      const past = { $set: { 'claims.$[].expires': new Date(0) } };
      await collection('posts').updateOne({ _id: record.id }, past);
      expect(await sweep(connection)).to.equal(1);
    } finally {
      await connection.close();
    }
    expect(await store.posts.get(record.id)).to.deep.equal(stored);
    expect(await store.posts.replay(once)).to.equal(undefined);
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
    const [record, once] = [post({ authorId: author.id }), claim()];
    await dying.posts.create(record, once).catch(() => {});
    expect(await store.posts.get(record.id)).to.equal(undefined);
    const page = { order: { by: 'title', direction: 'asc' }, limit: 5, total: true } as const;
    expect(await store.posts.list({}, page)).to.deep.equal({ items: [], total: 0 });
    expect(await store.posts.scan(5)).to.deep.equal([]);

    const results = await Promise.all(
      times(4, () => store.posts.create(post({ authorId: author.id }), once)),
    );
    expect(results.filter(({ replayed }) => !replayed)).to.have.lengthOf(1);
    expect(await store.posts.list({}, page)).to.include({ total: 1 });
  });

  it('a user whose deleter died is held up for a lease only', async function () {
    this.timeout(15_000);
    const store = database.open();
    const author = user();
    await store.users.create(author);
    const dying = database.open({
      intercept: async (step, run) => {
        if (step === 'user' || step === 'unleave') throw storeUnavailable('unknown');
        return run();
      },
    });
    await dying.users.delete(author.id, { posts: 'refuse' }).catch(() => {});
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
    expect(await store.posts.get(record.id)).to.deep.equal({
      record: { ...record, big: 2 ** 40 },
      version: 3,
    });
    const changed = await store.posts.update(record.id, (current) => ({ ...current.record, n: 1 }));
    expect(changed?.version).to.equal(4);
  });
});

interface Stored {
  readonly _id: string;
  readonly expires?: Date;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 8000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('It does not come to hold.');
    await sleep(50);
  }
}
