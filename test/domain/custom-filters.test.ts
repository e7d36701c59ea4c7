import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { type CustomFilters, createRostrum, type PostFilter } from '../../src/index.ts';
import { errorOf } from '../support/error-of.ts';

describe('filters on custom fields', () => {
  const customFilters = { posts: { slug: 'text', words: 'number', pinned: 'boolean' } } as const;
  const store = createMemoryStore({ customFilters });
  const { users, posts } = createRostrum(store);
  const list = (own: object) => posts.list({ filter: { custom: own } as PostFilter, total: true });

  before(async () => {
    await posts.create({ title: 'A', slug: 'a', words: 5, pinned: true });
    await posts.create({ title: 'B', slug: '5', words: '5', pinned: 'true' });
  });

  it('match by declared names; what is undefined is not asked', async () => {
    const counts: [own: object, count: number][] = [
      [{}, 2],
      [{ slug: 'a', words: 5, pinned: true }, 1],
      [{ slug: '5' }, 1],
      [{ slug: undefined }, 2],
      [{ slug: 'a', words: undefined }, 1],
    ];
    for (const [own, count] of counts) {
      const { items, total } = await list(own);
      expect([items.length, total], JSON.stringify(own)).to.deep.equal([count, count]);
    }
  });

  it('are errors by a value of another type, and say of which it must be', async () => {
    for (const [own, words] of [
      [{ slug: 5 }, '"slug" must be a text'],
      [{ words: '5' }, '"words" must be a finite number'],
      [{ slug: 'a', pinned: 1 }, '"pinned" must be true or false'],
    ] as const) {
      expect(String(await errorOf(list(own)))).to.equal(`TypeError: The filter ${words}.`);
    }
  });

  it('are errors by a name that is not declared, before anything is read', async () => {
    await using closed = createMemoryStore();
    await closed.close();
    const bare = createRostrum(closed);
    for (const call of [
      () => list({ lang: 'en' }),
      () => list({ constructor: 'x' }),
      () => users.list({ filter: { custom: { slug: 'a' as never } } }),
      () => bare.posts.list({ filter: { custom: { slug: 'a' as never } } }),
      () => list([] as object),
    ]) {
      expect(await errorOf(call())).to.be.instanceOf(TypeError);
    }
    for (const value of [null, Number.NaN, Number.POSITIVE_INFINITY, ['a'], {}, 5n]) {
      expect(await errorOf(list({ slug: value }))).to.be.instanceOf(TypeError);
    }
  });

  it('stay as they were declared', async () => {
    const declared: Record<string, 'text'> = { slug: 'text' };
    const rostrum = createRostrum(createMemoryStore({ customFilters: { posts: declared } }));
    declared.words = 'text';
    expect(rostrum.customFilters).to.deep.equal({ users: {}, posts: { slug: 'text' } });
  });

  it('cannot be declared by the names of other things, or of other types', () => {
    const declare = (own: object) => () => {
      createRostrum({ ...store, customFilters: own as CustomFilters });
    };
    for (const name of [
      ...['id', 'createdAt', 'updatedAt', 'title', 'body', 'authorId'],
      ...['limit', 'cursor', 'sort', 'count', 'fields', 'access_token'],
      ...['', '__proto__', 'a.b', '$a', 'a b', 'a[gte]', '1st', '-a', 'a"b', 'x'.repeat(65)],
    ]) {
      expect(declare({ posts: JSON.parse(`{${JSON.stringify(name)}: "text"}`) }), name).to.throw(
        TypeError,
        `"${name}" cannot be a filter of posts`,
      );
    }
    const users = { title: 'text', größe: 'number', _a: 'text' } as const;
    const opened = createMemoryStore({ customFilters: { users } });
    expect(() => createRostrum(opened)).not.to.throw();
    expect(declare({ posts: { slug: 'string' } })).to.throw(TypeError, 'one of text, number');
    expect(declare({ post: {} })).to.throw(TypeError, '"post" is not known in the customFilters');
    expect(declare({ posts: ['slug'] })).to.throw(TypeError, 'must be an object');
    const many = Array.from({ length: 33 }, (_, n) => [`f${n}`, 'text']);
    expect(declare({ posts: Object.fromEntries(many) })).to.throw(RangeError, 'At most 32');
  });
});
