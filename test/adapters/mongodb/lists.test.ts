import { expect } from 'chai';
import type { ListQuery } from '../../../src/domain/lists/list.ts';
import type { Post } from '../../../src/domain/records/post.ts';
import { utf8Bytes } from '../../../src/domain/records/text.ts';
import { at, post, times, user } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

const query: ListQuery = {
  conditions: [],
  order: { field: 'createdAt', direction: 'asc' },
  limit: 1000,
  bytes: 2 ** 21,
};

/** Records that are stored differently: small ones, and ones with one, many or only large members. */
const shapes: Record<string, object> = {
  small: { own: [1, { a: null }] },
  'with a large body': { body: 'é'.repeat(50_000) },
  'with a large custom field': { long: times(20_000, (n) => n), short: true },
  'with many short members': Object.fromEntries(times(3000, (n) => [`n${n}`, `value ${n}`])),
  'with many long members': Object.fromEntries(times(40, (n) => [`n${n}`, 'x'.repeat(1100)])),
  'with a long id': { id: 'i'.repeat(20_000) },
};

await describeOnMongodb('lists of large records on MongoDB', () => {
  const database = useDatabase();
  const records: Post[] = Object.values(shapes).map((fields) => post(fields));

  before(async () => {
    const { transfer } = database.open();
    await transfer.posts.load(records.map((record) => ({ record, version: 1, json: '' })));
  });

  it('return every record unchanged', async () => {
    const { items } = await database.open().posts.list(query);
    expect(items.map(({ record }) => record)).to.deep.equal(records);
    for (const [n, { json }] of items.entries()) expect(JSON.parse(json)).to.deep.equal(records[n]);
  });

  for (const fields of [
    ['id', 'title'],
    ['id', 'body', 'short'],
    ['id', 'n2', 'long', 'none'],
  ]) {
    it(`return only the requested fields: ${fields}`, async () => {
      const { items, isProjected } = await database.open().posts.list({ ...query, fields });
      expect(isProjected).to.equal(true);
      const expected = records.map((record) =>
        Object.fromEntries(Object.entries(record).filter(([name]) => fields.includes(name))),
      );
      expect(items.map(({ record }) => record)).to.deep.equal(expected);
    });
  }

  it('do not read large members that are not needed', async () => {
    const store = database.open();
    await store.ready();
    await database.db.command({ profile: 2 });
    const profile = database.db.collection('system.profile');
    // Without records of more than 32 large members, whose names are not stored.
    const value = records.slice(0, 3).map(({ id }) => id);
    const conditions = [{ field: 'id', op: 'in', value } as const];
    await store.posts.list({ ...query, conditions, fields: ['id', 'title'] });
    await store.posts.list({ ...query, conditions, bytes: 1000 });
    await database.db.command({ profile: 0 });
    const read = await profile.find({ 'command.find': 'posts', ns: /posts$/ }).toArray();
    expect(read).to.have.lengthOf(2);
    for (const { responseLength } of read) expect(responseLength).to.be.below(10_000);
  });

  it('contain a large record that exactly fits, even after its author was deleted', async () => {
    const store = database.open();
    const author = user({ id: 'a'.repeat(255) });
    await store.users.create(author);
    const some = times(2, () => post({ body: 'x'.repeat(50_000), authorId: author.id }));
    for (const record of some) await store.posts.create(record);
    const conditions = [{ field: 'id', op: 'in', value: some.map(({ id }) => id) } as const];
    const lengthAfter = async (change: () => Promise<unknown>) => {
      await change();
      const { items } = await store.posts.list({ ...query, conditions });
      const bytes = items.reduce((sum, { json }) => sum + utf8Bytes(json), 0);
      return (await store.posts.list({ ...query, conditions, bytes })).items.length;
    };
    expect(await lengthAfter(async () => {})).to.equal(2);
    expect(await lengthAfter(() => store.users.delete(author.id, 'keep', at(0)))).to.equal(2);
    for (const { id } of some) await store.posts.delete(id);
  });

  it('contain every record even if their sort keys exceed 16 MiB together', async function () {
    this.timeout(20_000);
    const store = database.open({ declaredFields: { posts: { slug: 'text' } } });
    const many = times(20, (n) =>
      post({ slug: `${String.fromCodePoint(97 + n)}${'x'.repeat(1_000_000)}` }),
    );
    for (const record of many) await store.posts.create(record);
    const order = { field: 'slug', declaredType: 'text', direction: 'asc' } as const;
    const conditions = [{ field: 'slug', declaredType: 'text', op: 'from', value: 'a' } as const];
    const found: string[] = [];
    for (let after: ListQuery['after']; ; ) {
      const request = { ...query, conditions, order, after, fields: ['id'] };
      const { items, next } = await store.posts.list(request);
      found.push(...items.map(({ record }) => record.id));
      if (next === undefined) break;
      after = next;
    }
    expect(found).to.deep.equal(many.map(({ id }) => id));
    for (const { id } of many) await store.posts.delete(id);
  });

  it('return a consistent page even if it takes several commands', async () => {
    const store = database.open();
    const many = times(1100, () => post());
    await store.transfer.posts.load(many.map((record) => ({ record, version: 1, json: '' })));
    const { items, next, total } = await store.posts.list({ ...query, total: true });
    const sum = records.length + many.length;
    expect([items.length, next?.id, total]).to.deep.equal([1000, many[993]?.id, sum]);
    const order = { field: 'createdAt', direction: 'desc' } as const;
    const rest = await store.posts.list({ ...query, order, after: next });
    expect(rest.items.map(({ record }) => record.id)).to.deep.equal(
      items
        .map(({ record }) => record.id)
        .toReversed()
        .slice(1),
    );
  });
});
