import { expect } from 'chai';
import {
  postListParameters,
  userListParameters,
} from '../../../../src/adapters/http/lists/parameters.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../../src/index.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';

describe('lists filtered by declared fields', () => {
  const declaredFields = {
    posts: { slug: 'text', pages: 'number', pinned: 'boolean', tags: 'text[]', langs: 'text[]' },
  } as const;
  let api: Api;

  before(async () => {
    api = await startApi({ store: createMemoryStore({ declaredFields }) });
    for (const [title, own] of Object.entries({
      a: { slug: 'hello', pages: 5, pinned: true, tags: ['x', 'y'], langs: ['en'] },
      b: { slug: 'hello', pages: 0.1, pinned: false },
      c: { slug: 'true', pages: null },
      d: { slug: '5' },
    })) {
      await api.make('/posts', { title, ...own });
    }
  });
  after(() => api[Symbol.asyncDispose]());

  async function titles(query: string): Promise<string> {
    const { status, body, text } = await api.get(`/posts?sort=title&count=exact&${query}`);
    expect(status, text).to.equal(200);
    expect(body.total).to.equal(body.posts.length);
    return body.posts.map(({ title }) => title).join('');
  }

  it('contain the records with an equal value', async () => {
    for (const [query, found] of [
      ['slug=hello', 'ab'],
      ['slug=Hello', ''],
      ['slug=', ''],
      ['slug=5', 'd'],
      ['slug=true', 'c'],
      ['pages=5', 'a'],
      ['pages=5.0', 'a'],
      ['pages=0.5e1', 'a'],
      ['pages=1e-1', 'b'],
      ['pinned=true', 'a'],
      ['pinned=false', 'b'],
      ['tags=x&tags=y&langs=en', 'a'],
      ['tags=x&langs=eo', ''],
      ['slug=hello&pinned=false', 'b'],
      ['slug=hello&pinned=false&title=a', ''],
    ] as const) {
      expect(await titles(query), query).to.equal(found);
    }
  });

  it('reject a value that does not have the declared type', async () => {
    const numbers = ['', 'five', '05', '+5', ' 5', '5,0', '0x5', '.5', '5.', '1e999', 'null'];
    for (const [name, values] of [
      ['pages', [...numbers, 'Infinity', 'NaN']],
      ['pinned', ['', '1', '0', 'TRUE', 'yes']],
    ] as const) {
      for (const value of values) {
        const { body } = await api.get(`/posts?${name}=${encodeURIComponent(value)}`);
        expect(body, value).to.deep.include({ status: 400, code: 'invalid-query' });
      }
    }
  });

  it('reject an operator that the type lacks, and name those that it has', async () => {
    for (const [name, allowed] of [
      ['pinned[gte]', ['pinned']],
      ['pages[startsWith]', ['pages', 'pages[gte]', 'pages[lt]']],
      ['tags[startsWith]', ['tags']],
      ['slug[like]', ['slug', 'slug[gte]', 'slug[startsWith]']],
    ] as const) {
      const answer = await api.get(`/posts?${name}=1`);
      const { errors } = expectProblem(answer, 400, 'invalid-query');
      expect(errors[0]).to.include({ parameter: name, code: 'unknown' });
      expect(answer.body.allowed).to.include.members([...allowed]);
    }
  });

  it('have at most 64 elements of arrays and 32 conditions', async () => {
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${name}=${n}`).join('&');
    expect(await titles(`${many('tags', 32)}&${many('langs', 32)}`)).to.equal('');
    for (const query of [`${many('tags', 32)}&${many('langs', 33)}`, many('tags', 65)]) {
      expectProblem(await api.get(`/posts?${query}`), 400, 'invalid-query');
    }
    const numbers = Array.from({ length: 16 }, (_, n) => `n${n}`);
    const fields = Object.fromEntries(numbers.map((name) => [name, 'number'] as const));
    const store = createMemoryStore({ declaredFields: { posts: fields } });
    await using wide = await startApi({ store });
    const ranges = numbers.map((name) => `${name}[gte]=1&${name}[lt]=2`).join('&');
    expect((await wide.get(`/posts?${ranges}`)).status).to.equal(200);
    const answer = await wide.get(`/posts?${ranges}&title=A`);
    expect(expectProblem(answer, 400, 'invalid-query').error).to.contain('at most 32 conditions');
  });

  it('reject fields that are not declared, and list those that are', async () => {
    for (const path of ['/posts?lang=en', '/users?slug=x', '/posts?slug=a&slug=b']) {
      const { allowed } = expectProblem(await api.get(path), 400, 'invalid-query');
      const custom = allowed.filter((name) => name in declaredFields.posts);
      const declared = path.startsWith('/posts') ? Object.keys(declaredFields.posts) : [];
      expect(custom).to.deep.equal(declared);
    }
  });

  it('cannot be declared for a name that is already a parameter', () => {
    for (const [list, parameters] of [
      ['users', userListParameters()],
      ['posts', postListParameters()],
    ] as const) {
      for (const { name } of parameters) {
        const declare = () => {
          createRostrum({ ...api.store, declaredFields: { [list]: { [name]: 'text' } } });
        };
        expect(declare, name).to.throw(
          TypeError,
          `"${name}" cannot be declared as a field of ${list}`,
        );
      }
    }
  });

  it('have cursors that only work with the same values', async () => {
    const { body, headers } = await api.get('/posts?slug=hello&limit=1');
    expect(headers.get('link')).to.include('slug=hello');
    const cursor = `cursor=${body.next}`;
    const next = await api.get(`/posts?slug=hello&${cursor}`);
    expect(next.body.posts.map(({ title }) => title)).to.deep.equal(['a']);
    for (const other of ['', 'slug=hallo&', 'slug=hello&pages=5&']) {
      expectProblem(await api.get(`/posts?${other}${cursor}`), 400, 'invalid-cursor');
    }
  });
});

describe('the fields parameter of a list', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.make('/posts', { title: 'A', slug: 'a', inner: { deep: 1 } });
    await api.make('/posts', { title: 'B', constructor: 1 });
  });
  after(() => api[Symbol.asyncDispose]());

  it('selects the id and the named fields that a record has', async () => {
    for (const [fields, a, b] of [
      ['title,slug', { title: 'A', slug: 'a' }, { title: 'B' }],
      ['slug', { slug: 'a' }, {}],
      ['id,id', {}, {}],
      ['', {}, {}],
      ['inner,inner.deep, title', { inner: { deep: 1 } }, {}],
      ['constructor,authorId', { authorId: null }, { constructor: 1, authorId: null }],
    ] as const) {
      const query = `sort=title&count=exact&fields=${encodeURIComponent(fields)}`;
      const { posts, total } = (await api.get(`/posts?${query}`)).body;
      const [first, second] = posts.map(({ id }) => id);
      for (const id of [first, second]) expect(id).to.be.a('string');
      expect(posts, fields).to.deep.equal([
        { id: first, ...a },
        { id: second, ...b },
      ]);
      expect(total).to.equal(2);
    }
  });

  it('can change from page to page, and is kept in Link', async () => {
    const { body, headers } = await api.get('/posts?limit=1&fields=title,slug');
    const [, next = ''] = /^<\/api\/v1([^>]+)>/.exec(headers.get('link') ?? '') ?? [];
    const second = await api.get(next);
    expect(Object.keys(second.body.posts[0] ?? {})).to.have.members(['id', 'title', 'slug']);
    const whole = await api.get(`/posts?limit=1&cursor=${body.next}`);
    expect(whole.body.posts[0]).to.include.keys('body', 'createdAt');
  });

  it('is rejected for a single record', async () => {
    const { body } = await api.get('/posts?limit=1');
    const one = await api.get(`/posts/${body.posts[0]?.id}?fields=title`);
    expectProblem(one, 400, 'invalid-query');
  });
});
