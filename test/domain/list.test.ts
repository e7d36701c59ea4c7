import { expect } from 'chai';
import fc from 'fast-check';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { cutPage, type ListQuery } from '../../src/domain/lists/list.ts';
import { createRostrum, type PostFilter, type Store, type UserFilter } from '../../src/index.ts';
import { errorOf } from '../support/error-of.ts';

const bytesOf = (texts: readonly string[]) => Buffer.byteLength(texts.join(''));

describe('a page', () => {
  it('has at most 100 records, even if the limit is larger', async () => {
    const { users, posts } = createRostrum(createMemoryStore());
    for (let n = 0; n < 101; n++) {
      await users.create({ name: 'Ada' });
      await posts.create({ title: 'x' });
    }
    for (const list of [users.list, users.listPublic, posts.list, posts.listWithAuthors]) {
      const { items, next } = await list({ limit: 1000 });
      expect(items).to.have.lengthOf(100);
      const rest = await list({ limit: 1000, after: next });
      expect([rest.items.length, rest.next]).to.deep.equal([1, undefined]);
    }
    for (const limit of [0, 1001]) {
      expect(await errorOf(users.list({ limit }))).to.be.instanceOf(RangeError);
    }
  });
});

describe('cutting a page', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 12 });

  it('ends at the limit, or before the record that would exceed the bytes', () => {
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 300 }),
        (all, limit, bytes) => {
          const records = all.map((json, index) => ({ json, index }));
          const { items, next } = cutPage(records, { limit, bytes }, ({ index }) => ({
            key: null,
            id: `${index}`,
          }));
          const page = items.map(({ json }) => json);
          expect(page).to.deep.equal(all.slice(0, page.length));
          expect(page.length).to.be.at.most(limit);
          if (page.length > 1) expect(bytesOf(page)).to.be.at.most(bytes);
          if (page.length === all.length) expect(next).to.equal(undefined);
          else {
            expect(next).to.deep.equal({ key: null, id: `${page.length - 1}` });
            const isFull = page.length === limit || bytesOf(all.slice(0, page.length + 1)) > bytes;
            expect(isFull, 'ends no earlier than it has to').to.equal(true);
          }
        },
      ),
    );
  });

  it('takes one record beyond the page and no more', () => {
    let taken = 0;
    function* records() {
      for (;;) {
        taken += 1;
        yield { json: 'x'.repeat(10) };
      }
    }
    cutPage(records(), { limit: 3, bytes: 1000 }, () => ({ key: null, id: '' }));
    expect(taken).to.equal(4);
    cutPage(records(), { limit: 100, bytes: 25 }, () => ({ key: null, id: '' }));
    expect(taken).to.equal(7);
  });
});

describe('a list query', () => {
  const queries: ListQuery[] = [];
  const store = createMemoryStore({ declaredFields: { posts: { slug: 'text', views: 'number' } } });
  const { list } = store.posts;
  store.posts.list = (query) => {
    queries.push(query);
    return list.call(store.posts, query);
  };
  store.users.list = async (query) => {
    queries.push(query);
    return { items: [] };
  };
  const { users, posts } = createRostrum(store as Store);

  const asked = async (call: () => Promise<unknown>) => {
    queries.length = 0;
    await call();
    return queries.map(({ conditions }) => conditions.map(({ field, op }) => `${field} ${op}`));
  };
  const usersBy = (filter: UserFilter) => asked(() => users.list({ filter }));
  const postsBy = (filter: PostFilter) => asked(() => posts.list({ filter }));

  it('has conditions on search fields', async () => {
    expect(await usersBy({})).to.deep.equal([[]]);
    expect(await usersBy({ name: 'É', ids: ['a'] })).to.deep.equal([
      ['nameKey eq', 'name eq', 'id in'],
    ]);
    expect(await usersBy({ email: 'A@b.example', nameStartsWith: 'A' })).to.deep.equal([
      ['emailKey eq', 'nameKey from', 'nameKey before'],
    ]);
    const span = { from: '2026-01-01T00:00:00.000Z', before: '2026-02-01T00:00:00.000Z' };
    expect(await postsBy({ publishedAt: span, authorId: null })).to.deep.equal([
      ['publishedAt from', 'publishedAt before', 'authorId isNull'],
    ]);
    expect(await postsBy({ publishedAt: null, authorId: 'a', titleStartsWith: '' })).to.deep.equal([
      ['publishedAt isNull', 'authorId eq', 'titleKey from'],
    ]);
    await posts.list({
      filter: { slug: 'x', views: 1 },
      order: { by: 'title', direction: 'asc' },
    });
    expect(queries.at(-1)).to.deep.include({
      order: { field: 'titleKey', direction: 'asc' },
      conditions: [
        { field: 'slug', declaredType: 'text', op: 'eq', value: 'x' },
        { field: 'views', declaredType: 'number', op: 'eq', value: 1 },
      ],
    });
  });

  it('is skipped if no record can match', async () => {
    for (const text of ['a\0', '\ud800']) {
      for (const filter of [
        ...[{ name: text }, { email: text }, { nameStartsWith: text }, { emailStartsWith: text }],
        ...[{ ids: [text] }, { ids: [] }],
      ]) {
        expect(await usersBy(filter), JSON.stringify(filter)).to.deep.equal([]);
      }
      for (const filter of [
        ...[{ title: text }, { titleStartsWith: text }, { authorId: text }],
        ...[{ slug: text }],
      ]) {
        expect(await postsBy(filter), JSON.stringify(filter)).to.deep.equal([]);
      }
      const position = { key: null, id: text };
      const request = { after: position, order: { by: 'email', direction: 'asc' } } as const;
      expect(await errorOf(users.list(request))).to.be.instanceOf(TypeError);
    }
    expect(await usersBy({ ids: ['a\0', 'b'] })).to.deep.equal([['id in']]);
    const { items, total, next } = await users.list({ filter: { ids: [] }, total: true });
    expect([items, total, next]).to.deep.equal([[], 0, undefined]);
    expect((await users.list({ filter: { ids: [] } })).total).to.equal(undefined);
  });

  it('leaves out ids that no record can have', async () => {
    const closed = createMemoryStore();
    await closed.close();
    const none = createRostrum(closed);
    for (const id of ['a\0', '\ud800']) {
      for (const call of [
        ...[none.users.get(id), none.users.getPublic(id), none.users.delete(id)],
        ...[none.users.patch(id, {}), none.posts.get(id), none.posts.delete(id)],
      ]) {
        expect(await errorOf(call)).to.match(/No (user|post) has this id/);
      }
    }
  });
});
