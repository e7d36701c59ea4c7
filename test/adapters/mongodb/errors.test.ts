import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { translate } from '../../../src/adapters/mongodb/errors.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { post, user } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

describe('errors of a MongoDB server', () => {
  const passing = {
    CursorNotFound: 43,
    QueryPlanKilled: 175,
    PrimarySteppedDown: 189,
    CursorKilled: 237,
    Interrupted: 11_601,
    OutOfDiskSpace: 14_031,
  };
  for (const [name, code] of Object.entries(passing)) {
    it(`${name} becomes store-unavailable with the outcome of the call`, () => {
      for (const outcome of ['none', 'unknown'] as const) {
        const error = translate(new MongoServerError({ code }), outcome);
        expect(isRostrumError(error, 'store-unavailable') && error.details).to.deep.equal({
          outcome,
        });
      }
    });
  }

  it('an error that indicates a bug is not translated', () => {
    const badValue = new MongoServerError({ code: 2 });
    expect(translate(badValue, 'none')).to.equal(badValue);
  });
});

await describeOnMongodb('a database rule of the operator', () => {
  const database = useDatabase();
  const isRefused = async (call: Promise<unknown>) => {
    const error = await errorOf(call);
    if (!isRostrumError(error, 'refused')) throw error;
    expect(error.cause).to.be.instanceOf(MongoServerError);
    expect(error.details.reason).to.equal("A rule of this server's database rejects this change.");
  };

  it('can be a unique index, which rejects only the creation, update or load that violates it', async () => {
    await database.db.collection('posts').createIndex({ title: 1 }, { unique: true });
    const { posts, transfer } = database.open();
    const [first, other] = [post({ title: 'Taken' }), post()];
    await posts.create(first);
    // In one group with two that succeed.
    const all = await Promise.allSettled([
      posts.create(other),
      isRefused(posts.create(post({ title: 'Taken' }))),
      posts.create(post()),
    ]);
    expect(all.map(({ status }) => status)).to.deep.equal(Array(3).fill('fulfilled'));
    await isRefused(posts.update(other.id, ({ record }) => ({ ...record, title: 'Taken' })));
    const [loaded] = [{ record: post({ title: 'Taken' }), version: 1, json: '' }];
    await isRefused(transfer.posts.load([loaded]));
    expect((await posts.get(other.id))?.record).to.deep.equal(other);
  });

  it('can be a validator, which rejects creations and updates', async () => {
    await database.open().users.get('x');
    const validator = { name: { $ne: 'Eve' } };
    await database.db.command({ collMod: 'users', validator });
    const { users } = database.open();
    const ada = user({ name: 'Ada' });
    await users.create(ada);
    await isRefused(users.create(user({ name: 'Eve' })));
    await isRefused(users.update(ada.id, ({ record }) => ({ ...record, name: 'Eve' })));
  });

  it('can be a validator that a user breaks already, which rejects only posts by that user', async () => {
    const store = database.open();
    const [ada, zoe] = [user({ name: 'Ada' }), user({ name: 'Zoe' })];
    const own = post({ authorId: ada.id });
    await Promise.all([store.users.create(ada), store.users.create(zoe)]);
    await store.posts.create(own);
    const validator = { name: { $ne: 'Zoe' } };
    await database.db.command({ collMod: 'users', validator });
    const byZoe = { authorId: zoe.id };
    await Promise.all([
      isRefused(store.posts.create(post(byZoe))),
      store.posts.create(post({ authorId: ada.id })),
      store.posts.create(post()),
    ]);
    await isRefused(store.posts.update(own.id, ({ record }) => ({ ...record, ...byZoe })));
    await isRefused(store.transfer.posts.load([{ record: post(byZoe), version: 1, json: '' }]));
    await database.db.command({ collMod: 'users', validator: {} });
  });

  it('can be a validator, which rejects a deletion that keeps the posts', async () => {
    const { users, posts } = database.open();
    const ada = user();
    await users.create(ada);
    const own = post({ authorId: ada.id });
    await posts.create(own);
    const validator = { authorId: { $type: 'string' } };
    await database.db.command({ collMod: 'posts', validator });
    await isRefused(users.delete(ada.id, 'keep', own.createdAt));
    expect(await users.get(ada.id)).not.to.equal(undefined);
    await database.db.command({ collMod: 'posts', validator: {} });
  });

  it('can be a validator that only warns, if there are no declared fields', async () => {
    const declaredFields = { posts: { done: 'boolean' } } as const;
    await database.open({ declaredFields }).ready();
    for (const lax of [{ validationAction: 'warn' }, { validationLevel: 'moderate' }]) {
      await database.db.command({ collMod: 'posts', ...lax });
      const { cause } = (await errorOf(database.open().ready())) as Error;
      expect(cause)
        .to.have.property('message')
        .that.matches(/^The validator of "posts" does not/);
      const strict = { validationAction: 'error', validationLevel: 'strict' };
      await database.db.command({ collMod: 'posts', ...strict });
    }
    await database.open().undeclare('posts', 'done');
    await database.db.command({ collMod: 'posts', validationAction: 'warn' });
    await database.open().ready();
  });

  it('can be a validator beside the declared fields', async () => {
    const validator = { name: { $ne: 'Mallory' } };
    await database.db.command({ collMod: 'users', validator });
    const store = database.open({ declaredFields: { users: { age: 'number' } } });
    const { users } = store;
    await isRefused(users.create(user({ name: 'Mallory' })));
    // Joined as docs/mongodb.md shows, twice.
    for (const name of ['Trudy', 'Oscar']) {
      const [found] = await database.db
        .listCollections({ name: 'users' }, { nameOnly: false })
        .toArray();
      const joined = { $and: [found?.options?.validator, { name: { $ne: name } }] };
      await database.db.command({ collMod: 'users', validator: joined });
    }
    const again = database.open();
    await again.ready();
    expect(again.declaredFields).to.deep.equal({ users: { age: 'number' }, posts: {} });
    const create = () => users.create(user({ age: 'x' }));
    expect(isRostrumError(await errorOf(create()), 'invalid-record')).to.equal(true);
    await store.undeclare('users', 'age');
    await create();
    await isRefused(users.create(user({ name: 'Mallory' })));
    const [found] = await database.db.listCollections({ name: 'users' }).toArray();
    const others = [validator, { name: { $ne: 'Trudy' } }, { name: { $ne: 'Oscar' } }];
    expect(found).to.deep.nested.include({ 'options.validator': { $and: others } });
  });
});
