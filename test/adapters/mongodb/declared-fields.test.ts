import { expect } from 'chai';
import type { Db, Document } from 'mongodb';
import { removeField } from '../../../src/adapters/mongodb/declared-fields.ts';
import { DeclarationError } from '../../../src/domain/fields/declared-fields.ts';
import { post } from '../../../src/testing/fixtures.ts';
import { errorOf } from '../../support/error-of.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('a declared field on MongoDB', () => {
  const database = useDatabase();

  it('whose removal was interrupted can be reported once, but does not lock the database', async () => {
    const declaredFields = { posts: { slug: { type: 'text', unique: true } } } as const;
    const store = database.open({ declaredFields });
    await store.posts.create(post({ slug: 'a' }));

    // The process ends before the validator loses the field.
    const interrupted = new Proxy(database.db, {
      get(db: Db, name: keyof Db) {
        const member = db[name];
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const [command] = args as [Document];
          const isLast = command.collMod !== undefined && !JSON.stringify(command).includes('slug');
          if (isLast) throw new Error('The process ends.');
          return Reflect.apply(member, db, args);
        };
      },
    });
    const error = await errorOf(removeField(interrupted, 'posts', 'slug'));
    expect((error as Error).message).to.equal('The process ends.');

    // Running servers no longer reject equal values.
    await store.posts.create(post({ slug: 'a' }));
    const { cause } = (await errorOf(database.open().ready())) as Error;
    expect(cause).to.be.instanceOf(DeclarationError);
    const next = database.open();
    await next.ready();
    expect(next.declaredFields).to.deep.equal({ users: {}, posts: {} });
  });

  it('whose index MongoDB rejects is not declared, and does not lock the database', async () => {
    const { db } = database;
    await db.collection('posts').createIndex({ other: 1 }, { name: 'custom.slug.unique' });
    const declaredFields = { posts: { slug: { type: 'text', unique: true } } } as const;
    const { cause } = (await errorOf(database.open({ declaredFields }).ready())) as Error;
    expect(cause).to.be.instanceOf(DeclarationError);
    expect(String(cause)).to.contain('drop that index');
    const next = database.open();
    await next.ready();
    expect(next.declaredFields).to.deep.equal({ users: {}, posts: {} });
  });

  it('can be named like the index of another one', async () => {
    const names = ['a', 'a_createdAt', 'a_unique', 'createdAt_a'];
    const fields = names.map((name) => [name, { type: 'text', unique: true }] as const);
    const store = database.open({ declaredFields: { posts: Object.fromEntries(fields) } });
    await store.ready();
    expect(Object.keys(store.declaredFields?.posts ?? {})).to.have.members(names);
  });
});
