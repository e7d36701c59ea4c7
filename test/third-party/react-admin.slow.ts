import { QueryClient } from '@tanstack/react-query';
import { expect } from 'chai';
import {
  CoreAdminContext,
  type DataProvider,
  useCreateController,
  useDelete,
  useDeleteMany,
  useEditController,
  useGetMany,
  useGetManyReference,
  useInfiniteGetList,
  useListController,
  useUpdate,
  useUpdateMany,
} from 'ra-core';
import { createElement, type ReactNode } from 'react';
import { MemoryRouter } from 'react-router-dom';
import {
  type Client,
  createClient,
  isApiProblem,
} from '../../packages/rostrum-client/src/index.ts';
import {
  type ReactAdminError,
  reactAdminProvider,
} from '../../packages/rostrum-client/src/react-admin.ts';
import {
  type Api,
  startApi,
  startApiWithFields,
} from '../../packages/rostrum-client/test/support/api.ts';
import { inDevelopment, renderHook } from './rendered.ts';

describe('the data provider for react-admin', () => {
  let api: Api;
  let client: Client;
  // Typed with react-admin's own type, so the compiler checks that the provider matches it.
  let provider: DataProvider;
  let requests: string[];

  beforeEach(async () => {
    api = await startApi();
    requests = [];
    client = createClient({
      url: api.url,
      fetch: (input, init) => {
        requests.push(`${init?.method} ${String(input).slice(api.url.length)}`);
        return fetch(input, init);
      },
    });
    provider = reactAdminProvider(client);
  });
  afterEach(() => api[Symbol.asyncDispose]());

  async function posts(count: number, authorId: string | null = null): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) {
      const title = `T${String(n).padStart(3, '0')}`;
      ids.push((await client.posts.create({ title, authorId })).record.id);
    }
    requests.length = 0;
    return ids;
  }

  const byTitle = { field: 'title', order: 'ASC' } as const;
  const pageOf = (page: number, perPage: number) =>
    provider.getList('posts', { pagination: { page, perPage }, sort: byTitle, filter: {} });
  const titlesOf = ({ data }: { data: { title: string }[] }) => data.map(({ title }) => title);

  describe('pages by number', () => {
    it('can be opened in any order', async () => {
      await posts(7);
      const first = await pageOf(1, 3);
      expect(titlesOf(first)).to.deep.equal(['T001', 'T002', 'T003']);
      expect(first).to.deep.include({
        total: 7,
        pageInfo: { hasNextPage: true, hasPreviousPage: false },
      });
      expect(titlesOf(await pageOf(2, 3))).to.deep.equal(['T004', 'T005', 'T006']);
      expect(requests).to.have.length(2);
      const last = await pageOf(3, 3);
      expect(titlesOf(last)).to.deep.equal(['T007']);
      expect(last.pageInfo).to.deep.equal({ hasNextPage: false, hasPreviousPage: true });
      expect(titlesOf(await pageOf(1, 3))).to.deep.equal(titlesOf(first));
      expect(requests).to.have.length(4);
      expect(titlesOf(await pageOf(2, 2))).to.deep.equal(['T003', 'T004']);
    });

    it('far from the start take few requests', async () => {
      await posts(9);
      expect(titlesOf(await pageOf(5, 2))).to.deep.equal(['T009']);
      expect(requests).to.have.length(2);
      expect(titlesOf(await pageOf(4, 2))).to.deep.equal(['T007', 'T008']);
    });

    it('are empty after the end, and page 0 is the first page', async () => {
      await posts(2);
      expect(titlesOf(await pageOf(0, 2))).to.deep.equal(['T001', 'T002']);
      expect(await pageOf(9, 2)).to.deep.include({ data: [], total: 2 });
      expect(await pageOf(2, 2)).to.deep.include({ data: [], total: 2 });
    });

    it('stay correct when the list changes', async () => {
      const [, second = ''] = await posts(6);
      await pageOf(1, 2);
      await pageOf(2, 2);
      await client.posts.delete(second);
      expect(titlesOf(await pageOf(1, 2))).to.deep.equal(['T001', 'T003']);
      expect(titlesOf(await pageOf(3, 2))).to.deep.equal(['T006']);
      expect(titlesOf(await pageOf(2, 2))).to.deep.equal(['T004', 'T005']);
    });

    it('have the requested length even if a page of the API ends earlier', async () => {
      const body = 'x'.repeat(100_000);
      for (let n = 0; n < 23; n++) await client.posts.create({ title: `T${n}`, body });
      requests.length = 0;
      expect((await pageOf(1, 22)).data).to.have.length(22);
      expect(requests).to.have.length(3);
    });

    it('can be larger than the largest page of the API', async () => {
      await posts(3);
      expect((await pageOf(1, 5000)).data).to.have.length(3);
    });

    it('of different lists are kept apart', async () => {
      const { id: authorId } = (await client.users.create({ name: 'Ada' })).record;
      await posts(4, authorId);
      await posts(4);
      const page = (number: number, filter: object) =>
        provider.getList('posts', {
          pagination: { page: number, perPage: 2 },
          sort: byTitle,
          filter,
        });
      for (const number of [1, 2]) {
        const mine = await page(number, { authorId });
        const others = await page(number, { authorId: null });
        expect(titlesOf(mine)).to.deep.equal(titlesOf(others));
        expect(mine.data).to.not.deep.equal(others.data);
      }
      expect(requests).to.have.length(4);
    });

    it('work without a total', async () => {
      await posts(3);
      provider = reactAdminProvider(client, { total: false });
      const page = await pageOf(1, 2);
      expect(page).to.not.have.property('total');
      expect(page.pageInfo).to.have.property('hasNextPage', true);
      expect(requests.join()).to.not.include('count');
    });
  });

  it('sorts by creation for id, which is the default sort of react-admin', async () => {
    const ids = await posts(3);
    const pagination = { page: 1, perPage: 9 };
    const list = (order: 'ASC' | 'DESC') =>
      provider.getList('posts', { pagination, sort: { field: 'id', order }, filter: {} });
    expect((await list('ASC')).data.map(({ id }) => id)).to.deep.equal(ids);
    expect((await list('DESC')).data.map(({ id }) => id)).to.deep.equal(ids.toReversed());
  });

  it('supports the filters of the API, and rejects others', async () => {
    await posts(3);
    const list = (filter: object) => provider.getList('posts', { filter });
    expect(titlesOf(await list({ title: 'T002' }))).to.deep.equal(['T002']);
    expect(titlesOf(await list({ createdAt: { lt: '2020-01-01T00:00:00Z' } }))).to.deep.equal([]);
    expect(titlesOf(await list({ title: { startsWith: 't00' } }))).to.have.length(3);
    const error: ReactAdminError = await list({ body: 'x' }).catch((reason) => reason);
    expect(error).to.include({ status: 400, name: 'Error' });
    expect(isApiProblem(error.cause, 'invalid-query')).to.equal(true);
  });

  it('filters and sorts by declared fields, and ignores empty inputs', async () => {
    await using declared = await startApiWithFields();
    const typed = reactAdminProvider(createClient({ url: declared.url }));
    const list = async (filter: object, field = 'views', order = 'ASC') =>
      titlesOf(await typed.getList('posts', { filter, sort: { field, order } })).join('');
    for (const [filter, expected] of [
      [{ views: 12 }, 'A'],
      [{ views: '12' }, 'A'],
      [{ views: { gte: 3 } }, 'A'],
      [{ hot: false }, 'A'],
      [{ tags: ['x', 'y'] }, 'A'],
      [{ tags: 'x' }, 'BA'],
      [{ slug: { startsWith: 'b' } }, 'B'],
      [{ slug: '', views: '', hot: '', tags: '', authorId: '' }, 'BA'],
      [{ views: { gte: '', lte: 5 }, slug: { startsWith: '' }, tags: [] }, 'B'],
    ] as const) {
      expect(await list(filter), JSON.stringify(filter)).to.equal(expected);
    }
    expect(await list({}, 'slug', 'DESC')).to.equal('BA');
    for (const wrong of [{ views: 'many' }, { hot: 'yes' }, { views: null }]) {
      const error: ReactAdminError = await list(wrong).catch((reason) => reason);
      expect(error, JSON.stringify(wrong)).to.include({ status: 400 });
    }
  });

  it('searches for the beginning of names and titles with q', async () => {
    await posts(3);
    await client.users.create({ name: 'Ada' });
    await client.users.create({ name: 'Grace' });
    const list = (name: string, q: string) => provider.getList(name, { filter: { q } });
    expect(titlesOf(await list('posts', 't003'))).to.deep.equal(['T003']);
    expect((await list('users', 'GR')).data.map(({ name }) => name)).to.deep.equal(['Grace']);
    expect((await list('users', '')).total).to.equal(2);
    const both = await provider.getList('posts', { filter: { q: 't', title: 'T002' } });
    expect(titlesOf(both)).to.deep.equal(['T002']);
    for (const other of [{ title: { startsWith: 'T' } }, { 'title[startsWith]': 'T' }]) {
      const call = provider.getList('posts', { filter: { q: 't', ...other } });
      const error: ReactAdminError = await call.catch((reason) => reason);
      expect(error).to.include({ status: 400 });
      expect(error.message).to.include('"q"');
    }
  });

  it('rejects other list parameters as filters, and unknown sorts', async () => {
    for (const params of [{ filter: { limit: 1 } }, { sort: { field: 'mood', order: 'ASC' } }]) {
      const call = provider.getList('posts', params as Parameters<typeof provider.getList>[1]);
      expect(await call.catch((reason) => reason)).to.include({ status: 400 });
    }
  });

  it('filters by a day', async () => {
    const at = new Date(2020, 5, 15, 12);
    await client.posts.create({ title: 'Then', publishedAt: at.toISOString() });
    await posts(1);
    const list = (publishedAt: unknown) => provider.getList('posts', { filter: { publishedAt } });
    expect(titlesOf(await list('2020-06-15'))).to.deep.equal(['Then']);
    expect(titlesOf(await list({ lte: '2020-06-15' }))).to.deep.equal(['Then']);
    expect(titlesOf(await list({ gt: '2020-06-15' }))).to.deep.equal(['T001']);
  });

  it('limits the fields of records', async () => {
    const { id: authorId } = (await client.users.create({ name: 'Ada' })).record;
    const [id = ''] = await posts(1, authorId);
    const expected = [{ id, title: 'T001' }];
    const meta = { fields: ['title'] };
    expect((await provider.getList('posts', { meta })).data).to.deep.equal(expected);
    expect((await provider.getMany('posts', { ids: [id], meta })).data).to.deep.equal(expected);
    const related = { target: 'authorId', id: authorId, pagination: { page: 1, perPage: 9 } };
    const reference = { ...related, sort: byTitle, filter: {}, meta };
    expect((await provider.getManyReference('posts', reference)).data).to.deep.equal(expected);
    const nested = provider.getList('posts', { meta: { fields: [{ author: ['name'] }] } });
    expect(await nested.catch((reason) => reason)).to.include({ status: 400 });
  });

  it('lists drafts and scheduled posts', async () => {
    await posts(1);
    await client.posts.create({ title: 'Draft', publishedAt: null });
    await client.posts.create({ title: 'Later', publishedAt: '2999-01-01T00:00:00Z' });
    const list = (publishedAt: unknown) => provider.getList('posts', { filter: { publishedAt } });
    expect(titlesOf(await list('null'))).to.deep.equal(['Draft']);
    expect(titlesOf(await list({ gt: new Date() }))).to.deep.equal(['Later']);
    expect(titlesOf(await list({ lte: new Date() }))).to.deep.equal(['T001']);
  });

  it('includes the authors of posts on pages of any size', async () => {
    const { record: ada } = await client.users.create({ name: 'Ada', email: 'ada@example.com' });
    await posts(150, ada.id);
    const page = (number: number, perPage: number) =>
      provider.getList('posts', {
        pagination: { page: number, perPage },
        sort: byTitle,
        meta: { include: 'author' },
      });
    const author = { id: ada.id, name: 'Ada', createdAt: ada.createdAt };
    const small = await page(3, 2);
    expect(titlesOf(small)).to.deep.equal(['T005', 'T006']);
    expect(small.meta.users).to.deep.equal([author]);
    const large = await page(1, 120);
    expect(large.data).to.have.length(120);
    expect(large.meta.users).to.deep.include(author);
    expect(await pageOf(1, 2)).to.not.have.property('meta');
    requests.length = 0;
    expect(titlesOf(await page(70, 2))).to.deep.equal(['T139', 'T140']);
    expect(requests).to.have.length(3);
  });

  it('gets one record, many records, and those of a reference', async () => {
    const { id: authorId } = (await client.users.create({ name: 'Ada' })).record;
    const ids = await posts(120, authorId);
    await client.posts.create({ title: 'Other' });
    expect((await provider.getOne('posts', { id: ids[0] })).data.title).to.equal('T001');
    const many = await provider.getMany('posts', { ids: [...ids, 'none'] });
    expect(many.data.map(({ id }) => id)).to.have.members(ids);
    const reference = await provider.getManyReference('posts', {
      target: 'authorId',
      id: authorId,
      pagination: { page: 2, perPage: 50 },
      sort: byTitle,
      filter: {},
    });
    expect(reference).to.have.property('total', 120);
    expect(titlesOf(reference)[0]).to.equal('T051');
  });

  it('gets and lists records by ids that do not fit into one URL', async () => {
    const ids = await posts(3);
    const long = Array.from(
      { length: 100 },
      (_, n) => `https://example.org/${'x'.repeat(180)}${n}`,
    );
    const many = [...ids, ...long];
    expect((await provider.getMany('posts', { ids: many })).data).to.have.length(3);
    const pagination = { page: 2, perPage: 2 };
    const sort = { field: 'id', order: 'ASC' } as const;
    const page = await provider.getList('posts', { filter: { id: many }, pagination, sort });
    expect(page).to.have.property('total', 3);
    expect(page.data).to.have.length(1);
  });

  describe('changes', () => {
    it('create a record', async () => {
      const { data } = await provider.create('users', { data: { name: 'Ada', born: 1815 } });
      expect((await client.users.get(data.id)).record).to.deep.equal(data);
    });

    it('update the given fields and preserve the others', async () => {
      const { record } = await client.users.create({ name: 'Ada', born: 1815, home: { a: null } });
      const { data } = await provider.update('users', {
        id: record.id,
        data: { email: 'ada@example.com', home: { b: null } },
        previousData: record,
      });
      expect(data).to.deep.include({ name: 'Ada', born: 1815, email: 'ada@example.com' });
      expect(data.home).to.deep.equal({ b: null });
    });

    it('preserve undefined fields, remove null ones, and keep a stored null', async () => {
      const own = { born: 1815, slug: 'ada', rank: null };
      const { record } = await client.users.create({ name: 'Ada', ...own });
      const { data } = await provider.update('users', {
        id: record.id,
        data: { name: 'Countess', born: undefined, slug: null, rank: null },
        previousData: record,
      });
      expect(data).to.include({ name: 'Countess', born: 1815, rank: null });
      expect(data).to.not.have.property('slug');
      expect((await client.users.get(record.id)).record).to.deep.equal(data);
    });

    it('reject overwriting fields that someone else changed', async () => {
      const { record } = await client.users.create({ name: 'Ada', born: 1815 });
      const { id } = record;
      await client.users.patch(id, { name: 'Countess', home: { city: 'London' } });
      const update = (data: object) =>
        provider.update('users', { id, data: { ...record, ...data }, previousData: record });
      for (const [field, change] of [
        ['name', () => update({ name: 'Lovelace' })],
        ['home', () => update({ home: { city: 'Paris' } })],
        ['name', () => provider.delete('users', { id, previousData: record })],
      ] as const) {
        const error: ReactAdminError = await change().catch((reason) => reason);
        expect(error).to.include({ status: 412 });
        expect(error.message).to.equal(`Someone else changed "${field}" since you read it.`);
        expect(isApiProblem(error.cause, 'version-mismatch')).to.equal(true);
      }
      expect((await client.users.get(id)).version).to.equal(2);
    });

    it('merge changes to different fields by two users', async () => {
      const { record } = await client.users.create({ name: 'Ada', born: 1815, rank: 1 });
      const save = (changes: object) =>
        provider.update('users', {
          id: record.id,
          data: { ...record, ...changes },
          previousData: record,
        });
      await save({ name: 'Countess' });
      const { data } = await save({ born: 1816, rank: null });
      expect(data).to.include({ name: 'Countess', born: 1816 }).and.not.have.property('rank');
      // Both wrote the same value.
      expect((await save({ name: 'Countess' })).data).to.have.property('updatedAt', data.updatedAt);
    });

    it('can turn a post into a draft', async () => {
      const { record } = await client.posts.create({ title: 'A' });
      const data = { ...record, publishedAt: null };
      const draft = await provider.update('posts', { id: record.id, data, previousData: record });
      expect(draft.data).to.have.property('publishedAt', null);
    });

    it('accept previous values in a form that the server normalizes', async () => {
      const { record } = await client.posts.create({ title: 'A', size: { x: 1, y: 2 } });
      const typed = { ...record, title: ' B ', publishedAt: '2020-01-01T01:00:00+01:00' };
      const { id } = record;
      await provider.update('posts', { id, data: typed, previousData: record });
      const again = { ...typed, title: 'C', publishedAt: null, size: 3 };
      // The order of keys does not matter.
      const previousData = { ...typed, size: { y: 2, x: 1 } };
      const { data } = await provider.update('posts', { id, data: again, previousData });
      expect(data).to.include({ title: 'C', publishedAt: null, size: 3 });
    });

    it('to one record run one after the other', async () => {
      const { record } = await client.posts.create({ title: 'A' });
      const { id } = record;
      const titles = [...'ABCDEF'];
      const edits = titles.slice(1).map((title, n) => {
        const previousData = { ...record, title: titles[n] };
        return provider.update('posts', { id, data: { ...record, title }, previousData });
      });
      const previousData = { ...record, title: 'F' };
      const deletion = provider.delete('posts', { id, previousData });
      const results = await Promise.all(edits);
      expect(results.map(({ data }) => data.title)).to.deep.equal(titles.slice(1));
      await deletion;
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('can update and delete many records', async () => {
      const ids = await posts(20);
      const updated = await provider.updateMany('posts', { ids, data: { body: 'b' } });
      expect(updated.data).to.deep.equal(ids);
      const bodies = (await client.posts.list()).items.map(({ body }) => body);
      expect(bodies).to.deep.equal(ids.map(() => 'b'));
      expect((await provider.deleteMany('posts', { ids })).data).to.deep.equal(ids);
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('count a record that is gone as deleted', async () => {
      const ids = await posts(12);
      const some = [ids[0] ?? '', 'gone', ...ids.slice(1)];
      expect((await provider.deleteMany('posts', { ids: some })).data).to.deep.equal(some);
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('to many records continue after an error, and report which ones failed', async () => {
      const ids = await posts(20);
      const some = ['a', 'b', ...ids, 'c', 'd'];
      const update = provider.updateMany('posts', { ids: some, data: { body: 'b' } });
      const error: ReactAdminError = await update.catch((reason) => reason);
      expect(error).to.include({ status: 404 });
      expect(error.failed?.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', 'd']);
      expect(error.failed?.map(({ cause }) => isApiProblem(cause, 'post-not-found'))).to.deep.equal(
        [true, true, true, true],
      );
      const reason = '(No post has this id.)';
      expect(error.message).to.equal(
        `4 of 24 records could not be updated: a ${reason}, b ${reason}, c ${reason}, 1 more.`,
      );
      const { items } = await client.posts.list();
      expect(items.map(({ body }) => body)).to.deep.equal(ids.map(() => 'b'));

      const author = (await client.users.create({ name: 'Ada' })).record.id;
      await posts(1, author);
      const others = ['gone', author, (await client.users.create({ name: 'B' })).record.id];
      const deletion = provider.deleteMany('users', { ids: others });
      const refusal: ReactAdminError = await deletion.catch((one) => one);
      expect(refusal).to.include({ status: 409 });
      expect(refusal.failed?.map(({ id }) => id)).to.deep.equal([author]);
      expect((await client.users.list()).items.map(({ id }) => id)).to.deep.equal([author]);
    });

    it('to many records stop if no other can succeed', async () => {
      const scopes = ['users:read', 'users:write'] as const;
      const callers = { ada: { name: 'ada', subject: null, scopes } };
      await using strict = await startApi({ callers });
      let tokens = 3;
      let sent = 0;
      const signedOut = createClient({
        url: strict.url,
        token: () => (tokens-- > 0 ? 'ada' : undefined),
        fetch: (input, init) => {
          sent++;
          return fetch(input, init);
        },
      });
      const ids = Array.from({ length: 30 }, (_, n) => `id-${n}`);
      const update = reactAdminProvider(signedOut).updateMany('users', {
        ids,
        data: { name: 'A' },
      });
      const error: ReactAdminError = await update.catch((reason) => reason);
      expect(error).to.include({ status: 401 });
      expect(error.failed?.map(({ id }) => id)).to.deep.equal(ids);
      expect(sent).to.equal(8);
    });

    it('delete a user with or without the posts, as set in meta or the provider', async () => {
      const author = async () => (await client.users.create({ name: 'Ada' })).record;
      const [a, b] = [await author(), await author()];
      await posts(1, a.id);
      await posts(1, b.id);
      const refused = await provider.delete('users', a).catch((reason) => reason);
      expect(isApiProblem(refused.cause, 'user-has-posts')).to.equal(true);
      const { data } = await provider.delete('users', { id: a.id, meta: { posts: 'keep' } });
      expect(data).to.have.property('id', a.id);
      expect((await client.posts.list({ authorId: null })).items).to.have.length(1);
      const withPosts = reactAdminProvider(client, { posts: 'delete' });
      await withPosts.deleteMany('users', { ids: [b.id] });
      const [left] = (await client.posts.list()).items;
      await withPosts.deleteMany('posts', { ids: [left?.id ?? ''] });
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('work if the server requires If-Match', async () => {
      await using strict = await startApi({ requireIfMatch: true });
      const { users } = createClient({ url: strict.url });
      const { record } = await users.create({ name: 'Ada' });
      const { update, deleteMany } = reactAdminProvider(createClient({ url: strict.url }));
      await update('users', { id: record.id, data: { name: 'B' } });
      await deleteMany('users', { ids: [record.id] });
      expect((await users.list()).items).to.deep.equal([]);
    });
  });

  it('rethrows an error of the token function unchanged', async () => {
    const failure = new TypeError('Failed to fetch');
    const token = () => Promise.reject(failure);
    const { getOne, deleteMany } = reactAdminProvider(createClient({ url: api.url, token }));
    for (const call of [getOne('users', { id: 1 }), deleteMany('users', { ids: [1, 2] })]) {
      expect(await call.catch((reason: unknown) => reason)).to.equal(failure);
    }
  });

  it('rejects other resources', async () => {
    const error = await provider.getOne('comments', { id: 1 }).catch((reason) => reason);
    expect(error).to.deep.include({ status: 400, body: { errors: {} } });
    expect(error.cause).to.be.instanceOf(TypeError);
  });

  describe('inside react-admin', () => {
    // react-admin logs the errors of a provider.
    inDevelopment((said) => said instanceof Error && isApiProblem(said.cause));

    const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    afterEach(() => queryClient.clear());
    const inAdmin = (child: ReactNode) =>
      createElement(
        MemoryRouter,
        null,
        createElement(CoreAdminContext, { dataProvider: provider, queryClient }, child),
      );

    it('useListController shows its pages', async () => {
      await posts(5);
      const options = {
        resource: 'posts',
        perPage: 2,
        sort: byTitle,
        disableSyncWithLocation: true,
      };
      using list = await renderHook(() => useListController(options), inAdmin);
      const first = await list.until(({ data }) => data !== undefined);
      expect(first).to.include({ total: 5, page: 1, hasNextPage: true, hasPreviousPage: false });
      first.setPage(3);
      const last = await list.until(({ page, isFetching }) => page === 3 && !isFetching);
      expect(last.data?.map(({ title }) => title)).to.deep.equal(['T005']);
      expect(last).to.include({ hasNextPage: false, hasPreviousPage: true });
    });

    it('an unmounted list aborts its request', async () => {
      const signals: (AbortSignal | null | undefined)[] = [];
      const silent: typeof fetch = (_, init) => {
        signals.push(init?.signal);
        return new Promise(() => {});
      };
      provider = reactAdminProvider(createClient({ url: api.url, fetch: silent }));
      const list = await renderHook(() => useInfiniteGetList('posts'), inAdmin);
      await list.until(() => signals.length > 0);
      expect(signals[0]?.aborted).to.equal(false);
      list[Symbol.dispose]();
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(signals[0]?.aborted).to.equal(true);
    });

    it('useInfiniteGetList continues to the end', async () => {
      await posts(5);
      const params = { pagination: { page: 1, perPage: 2 }, sort: byTitle };
      using list = await renderHook(() => useInfiniteGetList('posts', params), inAdmin);
      for (let pages = 1; pages <= 3; pages++) {
        await list.until(({ data }) => data?.pages.length === pages);
        if (pages < 3) await list.current.fetchNextPage();
      }
      expect(list.current.data?.pages.flatMap(({ data }) => data)).to.have.length(5);
      expect(list.current.hasNextPage).to.equal(false);
    });

    it('useGetManyReference shows the posts of a user', async () => {
      const { id } = (await client.users.create({ name: 'Ada' })).record;
      await posts(2, id);
      const params = { target: 'authorId', id };
      using list = await renderHook(() => useGetManyReference('posts', params), inAdmin);
      expect(await list.until(({ data }) => data !== undefined)).to.have.property('total', 2);
    });

    it('useGetMany works with ids of any length', async () => {
      const ids = await posts(2);
      const long = Array.from(
        { length: 100 },
        (_, n) => `https://example.org/${'x'.repeat(180)}${n}`,
      );
      const params = { ids: [...long, ...ids] };
      using many = await renderHook(() => useGetMany('posts', params), inAdmin);
      const { data } = await many.until(({ isPending }) => !isPending);
      expect(data?.map((record) => record?.id)).to.have.members(ids);
    });

    it('useDeleteMany deletes the rest of a selection if a record is gone', async () => {
      const ids = await posts(12);
      await client.posts.delete(ids[1] ?? '');
      using deletion = await renderHook(() => useDeleteMany(), inAdmin);
      await deletion.current[0]('posts', { ids });
      await deletion.until(([, { isSuccess }]) => isSuccess);
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('useUpdateMany updates the rest of a selection, and reports the missing record', async () => {
      const ids = await posts(12);
      await client.posts.delete(ids[1] ?? '');
      using update = await renderHook(() => useUpdateMany(), inAdmin);
      await update.current[0]('posts', { ids, data: { body: 'b' } });
      const [, { error }] = await update.until(([, { isError }]) => isError);
      expect(error).to.have.property('message').that.includes(ids[1]);
      const { items } = await client.posts.list();
      expect(items.filter(({ body }) => body === 'b')).to.have.length(11);
    });

    it('useCreateController receives field errors', async () => {
      await client.users.create({ name: 'Ada', email: 'ada@example.com' });
      const options = { resource: 'users', redirect: false as const };
      using form = await renderHook(() => useCreateController(options), inAdmin);
      const save = (data: object) => form.current.save?.(data);
      expect(await save({ name: 'Eve', email: 'ADA@example.com' })).to.have.all.keys('email');
      const tooLarge = { 'a/b': 2 ** 60 };
      expect(await save({ name: '', home: tooLarge })).to.have.all.keys('name', 'home.a/b');
    });

    it('useUpdate fails for a stale record; useDelete succeeds with the current one', async () => {
      const { record } = await client.users.create({ name: 'Ada' });
      const { record: present } = await client.users.patch(record.id, { name: 'B' });
      using update = await renderHook(() => useUpdate(), inAdmin);
      const { id } = record;
      const data = { name: 'C' };
      await update.current[0]('users', { id, data, previousData: record });
      const [, { error }] = await update.until(([, state]) => state.isError);
      expect(error).to.include({ status: 412 });
      using deletion = await renderHook(() => useDelete(), inAdmin);
      await deletion.current[0]('users', { id, previousData: present });
      await deletion.until(([, state]) => state.isSuccess);
      expect((await client.users.list()).items).to.deep.equal([]);
    });

    for (const mutationMode of ['optimistic', 'pessimistic'] as const) {
      it(`a second edit can follow the first immediately: ${mutationMode}`, async () => {
        const { id } = (await client.users.create({ name: 'Ada', born: 1815 })).record;
        const options = { resource: 'users', id, redirect: false as const, mutationMode };
        using form = await renderHook(() => useEditController(options), inAdmin);
        const first = await form.until(({ record }) => record !== undefined);
        await first.save?.({ ...first.record, name: 'Countess ' });
        const second = await form.until(({ record }) => record?.name.startsWith('Countess'));
        await second.save?.({ ...second.record, name: 'Lovelace' });
        const third = await form.until(({ record }) => record?.name === 'Lovelace');
        await client.users.patch(id, { born: 1816 });
        await third.save?.({ ...third.record, name: 'Augusta' });
        await form.until(({ record }) => record?.name === 'Augusta' && record.born === 1816);
        expect((await client.users.get(id)).record).to.include({ name: 'Augusta', born: 1816 });
      });
    }
  });
});
