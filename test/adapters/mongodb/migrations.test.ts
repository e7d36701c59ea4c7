import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Db } from 'mongodb';
import { migrate, runLocked } from '../../../src/adapters/mongodb/layout.ts';
import { instantFields } from '../../../src/domain/lists/search.ts';
import { earliestInstant } from '../../../src/domain/records/instant.ts';
import { post, times, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('migrations on MongoDB', () => {
  const database = useDatabase();
  const layout = () => database.db.collection<{ _id: string }>('rostrum');
  /** The steps that ran, in their order. */
  let ran: string[];

  /** Another version's steps from layout 2: a field for the length of a body, which is then renamed. */
  const steps = [
    async (db: Db) => {
      ran.push('add');
      await db.collection('posts').updateMany({}, [{ $set: { size: { $strLenCP: '$body' } } }]);
    },
    async (db: Db) => {
      ran.push('rename');
      await db.collection('posts').updateMany({}, { $rename: { size: 'bodyLength' } });
    },
  ];

  beforeEach(async () => {
    await database.db.dropDatabase();
    ran = [];
    const { ready, posts } = database.open();
    await untilServed(ready, 30_000);
    for (const body of ['', 'é😀']) await posts.create(post({ id: `p${body.length}`, body }));
    await layout().updateOne({ _id: 'layout' }, { $set: { version: 2 } });
  });

  const lengths = async () => {
    const found = await database.db.collection('posts').find().sort({ _id: 1 }).toArray();
    return found.map(({ _id, bodyLength }) => [_id, bodyLength]);
  };

  it('lead from layout 2, which has texts instead of dates', async () => {
    const [author, draft, early] = [user(), post(), post({ publishedAt: earliestInstant })];
    const { users, posts } = database.open();
    await users.create(author);
    for (const one of [draft, early]) await posts.create(one);
    const texts = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, { $toString: `$${name}` }]));
    const { db } = database;
    await db.collection('users').updateMany({}, [{ $set: texts(['createdAt', 'updatedAt']) }]);
    await db.collection('posts').updateMany({}, [{ $set: texts(instantFields) }]);
    await layout().updateOne({ _id: 'layout' }, { $set: { version: 2 } });

    const migrated = database.open();
    expect((await migrated.users.get(author.id))?.record).to.deep.equal(author);
    for (const one of [draft, early]) {
      expect((await migrated.posts.get(one.id))?.record).to.deep.equal(one);
    }
    for (const name of ['users', 'posts']) {
      const kinds = await db.collection(name).distinct('createdAt');
      expect(kinds.every((one) => one instanceof Date)).to.equal(true);
    }
  });

  it('say which record cannot be changed, and why', async () => {
    const { db } = database;
    await db.command({ collMod: 'posts', validator: { size: { $exists: false } } });
    const error = await errorOf(migrate(db, steps));
    expect(error).to.have.property('name', 'MongodbStoreError');
    expect(String(error)).to.match(/because of the record "p[03]": Document failed validation/);
    expect(await layout().findOne({ _id: 'layout' })).to.have.property('version', 2);

    await db.collection('users').insertOne({ createdAt: 'yesterday' });
    const message = /because of a record: .*yesterday/;
    expect(String(await errorOf(migrate(db)))).to.match(message);
  });

  it('run each step once, even if many processes open the database', async function () {
    this.timeout(30_000);
    await Promise.all(times(5, () => untilServed(() => migrate(database.db, steps), 20_000)));
    expect(ran).to.deep.equal(['add', 'rename']);
    expect(await lengths()).to.deep.equal([
      ['p0', 0],
      ['p3', 2],
    ]);
    expect(await layout().findOne({ _id: 'layout' })).to.deep.equal({ _id: 'layout', version: 4 });
  });

  it('let a new database begin with the current layout', async () => {
    await database.db.dropDatabase();
    await migrate(database.db, steps);
    expect(ran).to.deep.equal([]);
    expect(await layout().findOne({ _id: 'layout' })).to.have.property('version', 4);
  });

  it('end if another process has taken over their lock', async () => {
    const work = async (renewLock: () => Promise<void>) => {
      await renewLock();
      await layout().updateOne({ _id: 'layout' }, { $set: { lockedBy: 'another' } });
      await renewLock();
    };
    const error = await errorOf(runLocked(database.db, work, { from: 2 }));
    expect(String(error)).to.include('taken over the lock');
    expect(await layout().findOne({ _id: 'layout' })).to.include({ lockedBy: 'another' });
  });

  it('start again after a step that failed', async () => {
    const fail = async () => {
      throw new Error('planted');
    };
    const [add] = steps;
    if (add === undefined) throw new Error('There is no step.');
    expect(String(await errorOf(migrate(database.db, [add, fail])))).to.equal('Error: planted');
    await migrate(database.db, steps);
    expect(ran).to.deep.equal(['add', 'rename']);
  });

  it('keep their lock while a step takes longer', async () => {
    const slow = async (db: Db) => {
      await sleep(1500);
      await steps[0]?.(db);
    };
    const migrated = migrate(database.db, [slow], 400);
    await sleep(1000);
    expect(String(await errorOf(migrate(database.db, [slow], 400)))).to.match(/Another process/);
    await migrated;
    expect(ran).to.deep.equal(['add']);
  });

  it('leave the lock to the process that has it, if another step ends late', async () => {
    const locked = { lockedBy: 'another', lockedUntil: new Date(Date.now() + 60_000) };
    const late = async () => {
      await layout().updateOne({ _id: 'layout' }, { $set: locked });
    };
    expect(String(await errorOf(migrate(database.db, [late])))).to.match(/Another process/);
    expect(await layout().findOne({ _id: 'layout' })).to.deep.include({ ...locked, version: 2 });
  });

  it('wait for another process, until its lock has expired', async () => {
    const lock = (lockedUntil: Date) =>
      layout().updateOne({ _id: 'layout' }, { $set: { lockedUntil } });
    await lock(new Date(Date.now() + 60_000));
    expect(String(await errorOf(migrate(database.db, steps)))).to.match(/Another process/);
    expect(ran).to.deep.equal([]);
    await lock(new Date(Date.now() - 1000));
    await migrate(database.db, steps);
    expect(ran).to.deep.equal(['add', 'rename']);
  });
});
