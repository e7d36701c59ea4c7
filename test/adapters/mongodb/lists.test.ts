import { expect } from 'chai';
import type { ListQuery } from '../../../src/domain/lists/list.ts';
import type { Post } from '../../../src/domain/records/post.ts';
import { post, times } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

const query: ListQuery = {
  conditions: [],
  order: { field: 'createdAt', direction: 'asc' },
  limit: 1000,
  bytes: 2 ** 21,
};

/** Small and large records, with one, many or only large members. */
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

  it('do not read fields that are not needed', async () => {
    const store = database.open();
    await store.ready();
    await database.db.command({ profile: 2 });
    const profile = database.db.collection('system.profile');
    await store.posts.list({ ...query, fields: ['id', 'title'] });
    await database.db.command({ profile: 0 });
    const read = await profile.find({ 'command.find': 'posts', ns: /posts$/ }).toArray();
    expect(read).to.have.lengthOf(1);
    expect(read[0]?.responseLength).to.be.below(25_000);
  });

  it('ask for few whole records at a time, also after many lists of short fields', async function () {
    this.timeout(20_000);
    const { posts } = database.open();
    await posts.list(query);
    const ofAll = { op: 'from', value: '' } as const;
    const conditions = ['createdAt', 'updatedAt', 'id'].map((field) => ({ field, ...ofAll }));
    for (const _ of times(60, () => {})) await posts.list({ ...query, conditions, fields: ['id'] });
    await database.db.command({ profile: 2 });
    await posts.list(query);
    await database.db.command({ profile: 0 });
    const profile = database.db.collection('system.profile');
    const [last] = await profile.find({ 'command.find': 'posts' }).sort({ ts: -1 }).toArray();
    expect(last?.command.batchSize).to.be.below(200);
  });

  it('contain every record even if they exceed a reply of 16 MB, which is closed when the page is full', async function () {
    this.timeout(20_000);
    const store = database.open();
    const many = times(20, () => post({ kind: 'many', body: 'x'.repeat(1_000_000) }));
    for (const record of many) await store.posts.create(record);
    const conditions = [{ field: 'kind', declaredType: 'text', op: 'eq', value: 'many' } as const];
    for (const fields of [undefined, ['id', 'body']]) {
      const all = await store.posts.list({ ...query, conditions, fields, bytes: 2 ** 26 });
      expect(all.items.map(({ record }) => record.id)).to.deep.equal(many.map(({ id }) => id));
      expect(all.next).to.equal(undefined);
    }
    const page = await store.posts.list({ ...query, conditions });
    expect(page.items.map(({ record }) => record)).to.deep.equal(many.slice(0, 2));
    await until(async () => (await openCursors()) === 0, 'the cursor is closed');
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

  async function openCursors(): Promise<number> {
    const idle = { $currentOp: { idleCursors: true, localOps: true } };
    const ns = `${database.db.databaseName}.posts`;
    const admin = database.db.client.db('admin');
    return (await admin.aggregate([idle, { $match: { type: 'idleCursor', ns } }]).toArray()).length;
  }
});
