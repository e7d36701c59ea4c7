import { expect } from 'chai';
import { withVariable } from '../../../test/support/with-variable.ts';
import {
  type Client,
  createClient,
  isApiProblem,
  type Json,
  type PostQuery,
  type User,
  type UserInput,
} from '../src/index.ts';
import { type Api, startApi } from './support/api.ts';
import { collect } from './support/collect.ts';
import { problemOf } from './support/problem-of.ts';

describe('the client', () => {
  let api: Api;
  let client: Client;

  beforeEach(async () => {
    api = await startApi();
    client = createClient({ url: api.url });
  });
  afterEach(() => api[Symbol.asyncDispose]());

  async function ada(): Promise<User> {
    return (await client.users.create({ name: 'Ada', email: 'ada@example.com' })).record;
  }

  it('creates, reads, replaces, patches and deletes a record', async () => {
    const made = await client.users.create({ name: 'Ada', born: 1815 });
    expect(made).to.deep.include({ version: 1, etag: '"1"', replayed: false });
    expect(made.record).to.deep.include({ name: 'Ada', email: null, born: 1815 });
    const { id } = made.record;
    expect(await client.users.get(id)).to.deep.equal({
      record: made.record,
      version: 1,
      etag: '"1"',
    });

    const patched = await client.users.patch(id, { born: null, email: 'ada@example.com' });
    expect(patched.record).to.not.have.property('born');
    expect(patched).to.have.nested.property('record.email', 'ada@example.com');
    expect(patched.version).to.equal(2);

    const replaced = await client.users.replace(id, { name: 'Countess' });
    expect(replaced.record).to.deep.include({ name: 'Countess', email: null });
    expect(replaced.version).to.equal(3);

    expect(await client.users.delete(id)).to.equal(undefined);
    expect(await problemOf(client.users.get(id))).to.include({
      code: 'user-not-found',
      status: 404,
    });
  });

  it('encodes any id in the path', async () => {
    for (const id of ['a/b', '%', 'ü?#', '']) {
      expect(await problemOf(client.posts.get(id))).to.have.property('status', 404);
    }
  });

  describe('lists', () => {
    beforeEach(async () => {
      const { id: authorId } = await ada();
      for (const title of ['C', 'A', 'B']) await client.posts.create({ title, authorId });
      await client.posts.create({ title: 'D' });
    });

    const titles = async (query: Parameters<typeof client.posts.list>[0]) =>
      (await client.posts.list(query)).items.map(({ title }) => title).join('');

    it('contain only the requested fields, on every page', async () => {
      const query = { fields: ['title', 'none'], sort: 'title', limit: 1 } as const;
      const page = await client.posts.list(query);
      const [{ id } = { id: '' }] = page.items;
      expect(page.items).to.deep.equal([{ id, title: 'A' }]);
      const all = await collect(client.posts.all(query));
      expect(all.map((post) => Object.keys(post).sort().join())).to.deep.equal(
        all.map(() => 'id,title'),
      );
      expect(all.map(({ title }) => title).join('')).to.equal('ABCD');
      const none = await client.posts.list({ fields: [], id });
      expect(none.items).to.deep.equal([{ id }]);
    });

    it('filter by text, by author and by missing author', async () => {
      const [author] = (await client.users.list({ email: 'ADA@example.com' })).items;
      expect(await titles({ authorId: author?.id, sort: 'title' })).to.equal('ABC');
      expect(await titles({ authorId: null })).to.equal('D');
      expect(await titles({ title: 'A', authorId: author?.id })).to.equal('A');
      expect((await client.users.list({ name: 'ada' })).items).to.deep.equal([]);
    });

    it('filter by one, several or no ids', async () => {
      const all = (await client.posts.list({ sort: 'title' })).items;
      const [a = '', , c = ''] = all.map(({ id }) => id);
      expect(await titles({ id: a })).to.equal('A');
      expect(await titles({ id: [a, c], sort: 'title' })).to.equal('AC');
      const none = await client.posts.list({ id: [], count: 'exact' });
      expect(none).to.deep.equal({ items: [], next: null, total: 0 });
    });

    it('filter by times given as strings or Dates', async () => {
      const [c] = (await client.posts.list({ title: 'C' })).items;
      const at = c?.createdAt ?? '';
      const after = new Date(Date.parse(at) + 3_600_000);
      expect(await titles({ createdAt: { lte: at, gte: at }, title: 'C' })).to.equal('C');
      expect(await titles({ updatedAt: { gt: after } })).to.equal('');
      expect(await titles({ updatedAt: { lt: after }, sort: 'title' })).to.equal('ABCD');
    });

    it('filter by more ids than fit into a URL', async () => {
      const urls: string[] = [];
      const { posts } = createClient({
        url: api.url,
        fetch: (input, init) => {
          urls.push(String(input));
          return fetch(input, init);
        },
      });
      const ids = (await posts.list({ sort: 'title' })).items.map(({ id }) => id);
      const long = Array.from(
        { length: 100 },
        (_, n) => `https://example.org/${n}/${'x'.repeat(180)}`,
      );
      const many = [...ids.slice(0, 2), ...long, ...ids];
      const found = await collect(posts.all({ id: many }));
      expect(found.map(({ title }) => title).sort()).to.deep.equal(['A', 'B', 'C', 'D']);
      for (const url of urls) expect(url.length).to.be.below(8192);

      const first = await posts.list({ id: many, limit: 1, count: 'exact' });
      expect(first).to.have.property('total', 4);
      expect(first.items).to.have.length(1);
      const [, ...rest] = await collect(posts.all({ id: many, limit: 1 }));
      expect(await collect(posts.all({ id: many, cursor: first.next }))).to.deep.equal(rest);

      const short = Array.from({ length: 150 }, (_, n) => `none-${n}`);
      expect((await posts.list({ id: [...short, ...ids], count: 'exact' })).total).to.equal(4);
      const repeated = Array.from({ length: 150 }, () => ids[0] ?? '');
      expect((await posts.list({ id: repeated, sort: 'title' })).items).to.have.length(1);

      for (const query of [{ sort: 'title' }, { cursor: 'x' }, { cursor: '99.' }] as const) {
        const error = await posts.list({ id: many, ...query }).catch((reason) => reason);
        expect(error).to.be.instanceOf(TypeError);
      }
    });

    it('reject a filter that is null, except for authors and drafts', async () => {
      for (const query of [{ title: null }, { createdAt: { gte: null } }, { slug: null }]) {
        const error = await titles(query as never).catch((reason) => reason);
        expect(error, JSON.stringify(query)).to.be.instanceOf(TypeError);
      }
    });

    describe('given a date without a time', () => {
      withVariable('TZ', 'America/New_York');

      it('filter by that day in the local time zone', async () => {
        const at = async (publishedAt: string) =>
          (await client.posts.create({ title: publishedAt, publishedAt })).record.title;
        const before = await at('2020-03-08T04:59:59.999Z');
        // Daylight saving time starts on this day, so it has 23 hours.
        const start = await at('2020-03-08T05:00:00Z');
        const end = await at('2020-03-09T03:59:59.999Z');
        const after = await at('2020-03-09T04:00:00Z');
        const found = async (bounds: object) => {
          const publishedAt = { lt: new Date('2021-01-01'), ...bounds };
          const { items } = await client.posts.list({ publishedAt, sort: 'publishedAt' });
          return items.map(({ title }) => title);
        };
        expect(await found({ gte: '2020-03-08' })).to.deep.equal([start, end, after]);
        expect(await found({ gt: '2020-03-08' })).to.deep.equal([after]);
        expect(await found({ lt: '2020-03-08' })).to.deep.equal([before]);
        expect(await found({ lt: undefined, lte: '2020-03-08' })).to.deep.equal([
          before,
          start,
          end,
        ]);
        const day = await client.posts.list({ publishedAt: '2020-03-08' as never, count: 'exact' });
        expect(day.total).to.equal(2);
        for (const day of ['2020-02-30', '2020-13-01']) {
          const error = await found({ gte: day }).catch((reason: unknown) => reason);
          expect(error, day).to.be.instanceOf(TypeError);
        }
      });
    });

    it('return pages and a total', async () => {
      const first = await client.posts.list({ limit: 3, sort: 'title', count: 'exact' });
      expect(first.items).to.have.length(3);
      expect(first.total).to.equal(4);
      const { items, next } = await client.posts.list({ sort: 'title', cursor: first.next });
      expect(items.map(({ title }) => title)).to.deep.equal(['D']);
      expect(next).to.equal(null);
    });

    it('can be iterated to the end, or until the loop breaks', async () => {
      const all = await collect(client.posts.all({ limit: 1, sort: 'title' }));
      expect(all.map(({ title }) => title)).to.deep.equal(['A', 'B', 'C', 'D']);
      let requests = 0;
      const counting = createClient({
        url: api.url,
        fetch: (...call) => {
          requests++;
          return fetch(...call);
        },
      });
      for await (const post of counting.posts.all({ limit: 1, sort: 'title' })) {
        if (post.title === 'B') break;
      }
      expect(requests).to.equal(2);
    });
  });

  describe('declared fields', () => {
    const declaredFields = {
      posts: {
        slug: { type: 'text', unique: true },
        tags: 'text[]',
        views: 'number',
        hot: 'boolean',
      },
    } as const;

    it('filter and sort lists, by any value of their types', async () => {
      await using api = await startApi({ declaredFields });
      const { posts } = createClient<typeof declaredFields>({ url: api.url });
      for (const fields of [
        { title: 'A', slug: '', tags: [''], views: -0, hot: false },
        { title: 'B', slug: 'a,b', tags: ['a,b', 'c'], views: Number.MAX_SAFE_INTEGER },
        { title: 'C', slug: 'a&b=[c] +ü', tags: ['c', 'd'], views: 1e-7, hot: true },
        { title: 'D', slug: '2026-11-26', tags: [], views: -1234567890123.456 },
      ]) {
        await posts.create(fields);
      }
      const found = async (query: PostQuery<typeof declaredFields.posts>) =>
        (await posts.list({ sort: 'title', ...query })).items.map(({ title }) => title).join('');
      for (const [expected, query] of [
        ['A', { slug: '' }],
        ['B', { slug: 'a,b' }],
        ['C', { slug: 'a&b=[c] +ü' }],
        ['D', { slug: '2026-11-26' }],
        ['BC', { slug: { startsWith: 'a' } }],
        ['CD', { slug: { gte: '2', lt: 'a,' } }],
        ['BCD', { slug: { gt: '', lte: 'a,b' }, hot: undefined }],
        ['A', { tags: '' }],
        ['B', { tags: ['c', 'a,b'] }],
        ['BC', { tags: 'c' }],
        ['ABCD', { tags: [] }],
        ['A', { views: -0 }],
        ['B', { views: 9007199254740991 }],
        ['C', { views: 1e-7 }],
        ['D', { views: -1234567890123.456 }],
        ['AC', { views: { gte: 0, lt: 1 } }],
        ['A', { hot: false }],
        ['C', { hot: true, tags: ['d', 'c'], slug: { startsWith: 'a', gt: 'a' } }],
        ['BCAD', { sort: '-views' }],
        ['ADCB', { sort: 'slug' }],
      ] as const) {
        expect(await found(query), JSON.stringify(query)).to.equal(expected);
      }
    });
  });

  describe('conditions', () => {
    it('can be a version, an ETag or *', async () => {
      const { id } = await ada();
      expect(await client.users.patch(id, { name: 'B' }, { ifMatch: 1 })).to.include({
        version: 2,
      });
      expect(await client.users.patch(id, { name: 'C' }, { ifMatch: '"2"' })).to.include({
        version: 3,
      });
      expect(await client.users.replace(id, { name: 'D' }, { ifMatch: '*' })).to.include({
        version: 4,
      });
      for (const change of [
        () => client.users.patch(id, { name: 'E' }, { ifMatch: 3 }),
        () => client.users.replace(id, { name: 'E' }, { ifMatch: 3 }),
        () => client.users.delete(id, { ifMatch: 3 }),
      ]) {
        const expected = { code: 'version-mismatch', status: 412, version: 4, outcome: 'none' };
        expect(await problemOf(change())).to.include(expected);
      }
      await client.users.delete(id, { ifMatch: 4 });
    });

    it('prevent lost updates by concurrent calls', async () => {
      const { id } = (await client.users.create({ name: 'Counter', count: 0 })).record;
      const increment = () =>
        client.users.update(id, (user) => ({ ...user, count: Number(user.count) + 1 }));
      await Promise.all(Array.from({ length: 5 }, increment));
      expect((await client.users.get(id)).record.count).to.equal(5);
    });
  });

  describe('the deletion of a user with posts', () => {
    it('is rejected, or keeps or deletes the posts', async () => {
      const { id: authorId } = await ada();
      const { record: post } = await client.posts.create({ title: 'A', authorId });
      const problem = await problemOf(client.users.delete(authorId));
      expect(isApiProblem(problem, 'user-has-posts') && problem.details.posts).to.equal(1);
      await client.users.delete(authorId, { posts: 'keep' });
      expect((await client.posts.get(post.id)).record.authorId).to.equal(null);

      const { id } = await ada();
      await client.posts.patch(post.id, { authorId: id });
      await client.users.delete(id, { posts: 'delete' });
      expect((await client.posts.list()).items).to.deep.equal([]);
    });
  });

  describe('problems', () => {
    it('list every invalid field, and are distinguished by code', async () => {
      const problem = await problemOf(client.users.create({ name: '', email: 'no address' }));
      expect(problem).to.be.an('error').with.property('name', 'ApiProblem');
      expect(problem).to.include({ code: 'invalid-record', status: 422, outcome: 'none' });
      expect(problem.message).to.equal(problem.details.detail);
      expect(problem.details.requestId).to.be.a('string');
      expect(problem.errors.map((entry) => 'pointer' in entry && entry.pointer)).to.have.members([
        '/name',
        '/email',
      ]);
      expect(isApiProblem(problem, 'invalid-record')).to.equal(true);
      expect(isApiProblem(problem, 'email-taken')).to.equal(false);
      expect(isApiProblem(new Error('other'))).to.equal(false);
    });
  });

  it('rejects arguments that cannot be sent, without a request', async () => {
    let requests = 0;
    const sender = { url: api.url, fetch: async () => Response.json({ requests: ++requests }) };
    const { users } = createClient(sender);
    const cycle: Record<string, Json> = { name: 'Ada' };
    cycle.self = cycle;
    const big = { name: 'Ada', born: 1815n as unknown as number };
    const never = new Date(Number.NaN);
    for (const call of [
      () => users.create({ name: 'Ada' }, { idempotencyKey: 'ключ' }),
      () => createClient({ ...sender, token: 'a\nb' }).users.list(),
      () => users.create(big),
      () => users.patch('1', cycle),
      () => users.replace('1', cycle as UserInput),
      () => users.get('\ud800'),
      () => users.delete('\ud800'),
      () => users.list({ createdAt: { gte: never } }),
    ]) {
      const error = await call().catch((reason: unknown) => reason);
      expect(error, String(call)).to.be.instanceOf(TypeError);
    }
    expect(requests).to.equal(0);
  });

  it('rethrows an error of the token function unchanged, without a request', async () => {
    let requests = 0;
    const failure = new TypeError('Failed to fetch');
    const { users } = createClient({
      url: api.url,
      token: () => Promise.reject(failure),
      fetch: (...parameters) => {
        requests += 1;
        return fetch(...parameters);
      },
    });
    for (const call of [
      users.list(),
      users.create({ name: 'Ada' }),
      users.update('1', (it) => it),
    ]) {
      expect(await call.catch((reason: unknown) => reason)).to.equal(failure);
    }
    expect(requests).to.equal(0);
  });

  it('rethrows an error of the update callback after one request', async () => {
    const { users } = createClient({ url: api.url });
    const { record, etag } = await users.create({ name: 'Ada' });
    const stale = await users
      .patch(record.id, { name: 'Eve' }, { ifMatch: '"99"' })
      .catch((reason: unknown) => reason);
    expect(isApiProblem(stale, 'version-mismatch')).to.equal(true);
    let changes = 0;
    const update = users.update(record.id, () => {
      changes += 1;
      throw stale;
    });
    expect(await update.catch((reason: unknown) => reason)).to.equal(stale);
    expect(changes).to.equal(1);
    expect((await users.get(record.id)).etag).to.equal(etag);
  });

  it('accepts a URL with a trailing slash', async () => {
    const slashed = createClient({ url: `${api.url}/` });
    expect((await slashed.users.list()).items).to.deep.equal([]);
  });
});
