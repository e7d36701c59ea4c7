import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { isDeclarable } from '../../src/domain/fields/declared-fields.ts';
import { nextValue } from '../../src/domain/lists/declared-filters.ts';
import { filters } from '../../src/domain/lists/search.ts';
import { createRostrum, type DeclaredFields } from '../../src/index.ts';
import { errorOf } from '../support/error-of.ts';

describe('declared fields', () => {
  const declaredFields = { posts: { slug: 'text', pages: 'number', pinned: 'boolean' } } as const;
  const store = createMemoryStore({ declaredFields });
  const { users, posts } = createRostrum(store);
  const list = (own: object) => posts.list({ filter: own, total: true });

  before(async () => {
    await posts.create({ title: 'A', slug: 'a', pages: 5, pinned: true });
    await posts.create({ title: 'B', slug: '5', pages: 6, pinned: false });
  });

  it('reject another name of the option at opening', () => {
    const options = { customFilters: { posts: { slug: 'text' } } } as object;
    expect(() => createMemoryStore(options)).to.throw(TypeError, 'customFilters');
  });

  it('match by declared names, ignoring undefined values', async () => {
    const counts: [own: object, count: number][] = [
      [{}, 2],
      [{ slug: 'a', pages: 5, pinned: true }, 1],
      [{ slug: '5' }, 1],
      [{ slug: undefined }, 2],
      [{ slug: 'a', pages: undefined }, 1],
    ];
    for (const [own, count] of counts) {
      const { items, total } = await list(own);
      expect([items.length, total], JSON.stringify(own)).to.deep.equal([count, count]);
    }
  });

  it('reject a value of another type, naming the right one', async () => {
    for (const [own, pages] of [
      [{ slug: 5 }, '"slug" must be a string, or an object with "from", "before" or "startsWith"'],
      [{ pages: '5' }, '"pages" must be a finite number, or an object with "from" or "before"'],
      [{ slug: 'a', pinned: 1 }, '"pinned" must be true or false'],
    ] as const) {
      expect(String(await errorOf(list(own)))).to.equal(`TypeError: The filter ${pages}.`);
    }
  });

  it('reject an undeclared name before anything is read', async () => {
    await using closed = createMemoryStore();
    await closed.close();
    const bare = createRostrum(closed);
    for (const call of [
      () => list({ lang: 'en' }),
      () => list({ constructor: 'x' }),
      () => users.list({ filter: { slug: 'a' } as object }),
      () => bare.posts.list({ filter: { slug: 'a' } as object }),
      () => list([] as object),
    ]) {
      expect(await errorOf(call())).to.be.instanceOf(TypeError);
    }
    for (const value of [
      null,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      ['a'],
      { after: 'a' },
      { from: 1 },
      5n,
    ]) {
      expect(await errorOf(list({ slug: value }))).to.be.instanceOf(TypeError);
    }
  });

  it('keep their declaration when the caller modifies it later', async () => {
    const declared: Record<string, 'text'> = { slug: 'text' };
    const rostrum = createRostrum(createMemoryStore({ declaredFields: { posts: declared } }));
    declared.pages = 'text';
    expect(rostrum.declaredFields).to.deep.equal({ users: {}, posts: { slug: 'text' } });
  });

  it('cannot be declared with a reserved name or an unknown type', () => {
    const declare = (own: object) => () => {
      createRostrum({ ...store, declaredFields: own as DeclaredFields });
    };
    for (const name of [
      ...['id', 'createdAt', 'updatedAt', 'title', 'body', 'authorId'],
      ...['limit', 'cursor', 'sort', 'count', 'fields', 'access_token', 'q', 'words'],
      ...['key', 'publish', 'state', 'author', 'title_starts_with'],
      ...Object.keys(filters.posts),
      ...Object.keys(filters.users).filter((name) => name !== 'name' && name !== 'email'),
      ...['', '__proto__', 'a.b', '$a', 'a b', 'a[gte]', '1st', '-a', 'a"b', 'x'.repeat(65)],
    ]) {
      expect(declare({ posts: JSON.parse(`{${JSON.stringify(name)}: "text"}`) }), name).to.throw(
        TypeError,
        `"${name}" cannot be declared as a field of posts`,
      );
      expect(isDeclarable('posts', name), name).to.equal(false);
    }
    const users = { title: 'text', größe: 'number', _a: 'text' } as const;
    const opened = createMemoryStore({ declaredFields: { users } });
    expect(() => createRostrum(opened)).not.to.throw();
    expect(declare({ posts: { slug: 'string' } })).to.throw(TypeError, 'one of text, number');
    expect(declare({ posts: { hot: { type: 'boolean', unique: true } } })).to.throw(
      TypeError,
      '"hot" cannot be unique',
    );
    expect(declare({ posts: { slug: { type: 'text', unique: 'yes' } } })).to.throw(
      TypeError,
      'The option "unique" of "slug" must be true or false.',
    );
    expect(declare({ post: {} })).to.throw(TypeError, 'Unknown name "post" in the declaredFields');
    expect(declare({ posts: ['slug'] })).to.throw(TypeError, 'must be an object');
    const many = Array.from({ length: 17 }, (_, n) => [`f${n}`, 'text']);
    expect(declare({ posts: Object.fromEntries(many) })).to.throw(RangeError, 'At most 16');
  });

  describe('of every type', () => {
    const { posts: typed } = createRostrum(
      createMemoryStore({
        declaredFields: {
          posts: {
            slug: { type: 'text', unique: true },
            tags: 'text[]',
            views: 'number',
            hot: 'boolean',
          },
        },
      }),
    );
    type Filter = NonNullable<NonNullable<Parameters<typeof typed.all>[0]>['filter']>;
    const found = async (filter: Filter) => {
      const { items } = await typed.list({ filter, order: { by: 'title', direction: 'asc' } });
      return items.map(({ record }) => record.title).join('');
    };

    before(async () => {
      const made = [
        { title: 'A', slug: 'alpha', tags: ['x', 'y'], views: -0, hot: true },
        { title: 'B', slug: 'beta', tags: ['y'], views: 2 ** 53 - 1, hot: false },
        { title: 'C', slug: null, tags: null, views: null, hot: null },
        { title: 'D', slug: 'alphabet', tags: ['x', 'x'], views: 0.1 + 0.2 },
        { title: 'E' },
      ];
      for (const post of made) await typed.create(post);
    });

    it('match values, never null or missing ones', async () => {
      expect(await found({ slug: 'alpha' })).to.equal('A');
      expect(await found({ slug: { startsWith: 'alpha' } })).to.equal('AD');
      expect(await found({ slug: { startsWith: '' } })).to.equal('ABD');
      expect(await found({ slug: { from: nextValue('alpha'), before: 'beta' } })).to.equal('D');
      expect(await found({ slug: { from: 'b', startsWith: 'alpha' } })).to.equal('');
      expect(await found({ views: 0 })).to.equal('A');
      expect(await found({ views: 0.3 })).to.equal('');
      expect(await found({ views: { from: nextValue(0) } })).to.equal('BD');
      expect(await found({ views: { before: 1 } })).to.equal('AD');
      expect(await found({ views: { from: Number.NEGATIVE_INFINITY } })).to.equal('ABD');
      expect(await found({ views: {} })).to.equal('ABCDE');
      expect(await found({ tags: 'x' })).to.equal('AD');
      expect(await found({ tags: ['x', 'y'] })).to.equal('A');
      expect(await found({ tags: [] })).to.equal('ABCDE');
      expect(await found({ tags: '\0' })).to.equal('');
      expect(await found({ hot: false })).to.equal('B');
    });

    it('sort null and missing values first', async () => {
      const walked = async (by: 'slug' | 'views', direction: 'asc' | 'desc') => {
        const titles: string[] = [];
        const order = { by, direction } as const;
        for await (const { record } of typed.all({ order, limit: 1 })) titles.push(record.title);
        return titles.join('');
      };
      expect(await walked('views', 'asc')).to.equal('CEADB');
      expect(await walked('views', 'desc')).to.equal('BDAEC');
      expect(await walked('slug', 'asc')).to.equal('CEADB');
      const order = { by: 'views', direction: 'asc' } as const;
      const after = { key: 'a', id: 'x' };
      expect(await errorOf(typed.list({ order, after }))).to.be.instanceOf(TypeError);
      const byTags = { by: 'tags', direction: 'asc' } as never;
      expect(await errorOf(typed.list({ order: byTags }))).to.be.instanceOf(RangeError);
    });

    it('limit a unique value to one record, and arrays to 64 elements', async () => {
      const taken = await errorOf(typed.create({ title: 'F', slug: 'beta', publishedAt: null }));
      expect(taken).to.have.property('code', 'field-taken');
      expect(taken).to.have.nested.property('details.issues[0].pointer', '/slug');
      const tags = Array.from({ length: 65 }, String);
      const long = await errorOf(typed.create({ title: 'G', slug: 'beta', tags }));
      expect(long).to.have.nested.property('details.issues[0].code', 'too-long');
      for (const slug of [undefined, null, 'Beta']) {
        const { id } = (await typed.create({ title: 'H', ...(slug !== undefined && { slug }) }))
          .record;
        await typed.delete(id);
      }
    });
  });

  it('can be exclusive: nextValue returns the next number or text', () => {
    for (const value of [0, -0, 1, -1, 0.1, 1e21, 2 ** 53, -(2 ** 53), Number.MIN_VALUE]) {
      const next = nextValue(value);
      expect(next).to.be.greaterThan(value);
      const between = (value + next) / 2;
      expect(between === value || between === next, String(value)).to.equal(true);
    }
    expect(nextValue(Number.MAX_VALUE)).to.equal(Number.POSITIVE_INFINITY);
    expect(nextValue('a')).to.equal('a\u0001');
  });
});
