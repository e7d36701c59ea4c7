import {
  type BaseRecord,
  type DataProvider,
  Refine,
  useDeleteMany,
  useForm,
  useInfiniteList,
  useMany,
  useTable,
} from '@refinedev/core';
import { expect } from 'chai';
import { createElement, type ReactNode } from 'react';
import {
  type Client,
  createClient,
  isApiProblem,
} from '../../packages/rostrum-client/src/index.ts';
import { type RefineError, refineProvider } from '../../packages/rostrum-client/src/refine.ts';
import {
  type Api,
  startApi,
  startApiWithFields,
} from '../../packages/rostrum-client/test/support/api.ts';
import { inDevelopment, renderHook } from './rendered.ts';

describe('the data provider for refine', () => {
  let api: Api;
  let client: Client;
  // Typed with refine's own type, so the compiler checks that the provider matches it.
  let provider: Required<Omit<DataProvider, 'custom'>>;

  beforeEach(async () => {
    api = await startApi();
    client = createClient({ url: api.url });
    provider = refineProvider(client);
  });
  afterEach(() => api[Symbol.asyncDispose]());

  async function posts(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) {
      ids.push((await client.posts.create({ title: `T${n}` })).record.id);
    }
    return ids;
  }

  const sorters = [{ field: 'title', order: 'asc' as const }];
  const titlesOf = ({ data }: { data: BaseRecord[] }) => data.map(({ title }) => title).join(' ');

  it('returns the URL of the API', () => {
    expect(provider.getApiUrl()).to.equal(api.url);
  });

  it('lists pages by number, and returns the next cursor', async () => {
    await posts(5);
    const page = (currentPage: number) =>
      provider.getList({ resource: 'posts', sorters, pagination: { currentPage, pageSize: 2 } });
    const second = await page(2);
    expect(titlesOf(second)).to.equal('T3 T4');
    expect(second.total).to.equal(5);
    expect(second.cursor).to.have.property('next').that.is.a('string');
    const third = await page(3);
    expect(titlesOf(third)).to.equal('T5');
    expect(third.cursor).to.deep.equal({});
  });

  it('lists everything if refine does the paging', async () => {
    await posts(12);
    for (const mode of ['off', 'client'] as const) {
      const all = await provider.getList({ resource: 'posts', pagination: { mode } });
      expect(all.data).to.have.length(12);
      expect(all.total).to.equal(12);
    }
  });

  it('supports the filters of the API, and rejects others by name', async () => {
    const { id: authorId } = (await client.users.create({ name: 'Ada' })).record;
    const ids = await posts(3);
    await client.posts.create({ title: 'Notes', authorId });
    const list = (...filters: { field: string; operator: 'eq'; value: unknown }[]) =>
      provider.getList({ resource: 'posts', sorters, filters });
    const filter = (field: string, operator: string, value?: unknown) =>
      ({ field, operator, value }) as { field: string; operator: 'eq'; value: unknown };

    expect(titlesOf(await list(filter('title', 'eq', 'T2')))).to.equal('T2');
    expect(titlesOf(await list(filter('authorId', 'eq', authorId)))).to.equal('Notes');
    expect(titlesOf(await list(filter('authorId', 'null', true)))).to.equal('T1 T2 T3');
    expect(titlesOf(await list(filter('id', 'in', ids.slice(1))))).to.equal('T2 T3');
    expect(titlesOf(await list(filter('title', 'eq', undefined)))).to.equal('Notes T1 T2 T3');
    const time = (operator: string, value: string) => filter('createdAt', operator, value);
    const span = [time('lt', '2021-01-01T00:00:00Z'), time('gte', '2020-01-01T00:00:00Z')];
    expect(titlesOf(await list(...span))).to.equal('');
    expect(titlesOf(await list(filter('', 'and', span)))).to.equal('');
    expect(titlesOf(await list(time('gte', '2020-01-01T00:00:00Z')))).to.equal('Notes T1 T2 T3');

    expect(titlesOf(await list(filter('authorId', 'eq', null)))).to.equal('T1 T2 T3');
    expect(titlesOf(await list(filter('title', 'startswith', 't2')))).to.equal('T2');
    await client.posts.create({ title: 'Draft', publishedAt: null });
    expect(titlesOf(await list(filter('publishedAt', 'null', true)))).to.equal('Draft');
    const published = filter('publishedAt', 'lte', new Date());
    expect(titlesOf(await list(published))).to.equal('Notes T1 T2 T3');
    for (const missing of [
      [filter('title', 'contains', 'T')],
      [filter('title', 'eq', 'T1'), filter('title', 'eq', 'T2')],
      [filter('id', 'eq', ids[0]), filter('id', 'in', ids.slice(1))],
      [time('gte', '2020-01-01T00:00:00Z'), time('gte', '2021-01-01T00:00:00Z')],
      [filter('title', 'null', true)],
      [filter('title', 'eq', null)],
      [filter('title', 'eq', [])],
      [filter('authorId', 'null', false)],
    ]) {
      const error: RefineError = await list(...missing).catch((reason) => reason);
      const field = missing[0]?.field ?? 'a field';
      expect(error, field).to.have.property('statusCode', 400);
      expect(error.message).to.include(field);
      expect(error.cause).to.be.instanceOf(TypeError);
    }
    const unknown: RefineError = await list(filter('body', 'eq', 'x')).catch((reason) => reason);
    expect(unknown).to.have.property('statusCode', 400);
    expect(isApiProblem(unknown.cause, 'invalid-query')).to.equal(true);
  });

  it('filters and sorts by declared fields, and ignores empty inputs', async () => {
    await using declared = await startApiWithFields();
    const typed = refineProvider(createClient({ url: declared.url }));
    const list = async (field: string, operator: string, value: unknown) => {
      const filters = [{ field, operator, value }];
      const sorters = [{ field: 'views', order: 'asc' }];
      return titlesOf(await typed.getList({ resource: 'posts', sorters, filters }));
    };
    for (const [field, operator, value, expected] of [
      ['views', 'eq', 12, 'A'],
      ['views', 'gte', 3, 'A'],
      ['hot', 'eq', false, 'A'],
      ['tags', 'eq', 'x', 'B A'],
      ['tags', 'ina', ['x', 'y'], 'A'],
      ['tags', 'ina', [], 'B A'],
      ['slug', 'startswith', 'b', 'B'],
      ['views', 'eq', '', 'B A'],
      ['views', 'lte', '', 'B A'],
      ['hot', 'eq', '', 'B A'],
      ['slug', 'startswith', '', 'B A'],
      ['authorId', 'eq', '', 'B A'],
    ] as const) {
      expect(await list(field, operator, value), `${field} ${operator} ${value}`).to.equal(
        expected,
      );
    }
    for (const [operator, value] of [
      ['eq', 'many'],
      ['eq', null],
      ['ina', ['x']],
      ['contains', 1],
    ] as const) {
      const error: RefineError = await list('views', operator, value).catch((reason) => reason);
      expect(error, operator).to.include({ statusCode: 400 });
    }
  });

  it('sorts by one field, and rejects a second', async () => {
    await posts(2);
    const by = (...fields: string[]) =>
      provider.getList({
        resource: 'posts',
        sorters: fields.map((field) => ({ field, order: 'desc' as const })),
      });
    expect(titlesOf(await by('title'))).to.equal('T2 T1');
    const second: RefineError = await by('title', 'createdAt').catch((reason) => reason);
    expect(second).to.have.property('statusCode', 400);
    expect(second.message).to.equal(
      'Lists can be sorted by one field only, not by "title" and "createdAt".',
    );
    expect(await by('mood').catch((reason) => reason)).to.have.property('statusCode', 400);
  });

  it('filters by a day', async () => {
    const publishedAt = new Date(2020, 5, 15, 12).toISOString();
    await client.posts.create({ title: 'Then', publishedAt });
    await posts(1);
    const list = (operator: 'eq' | 'gt') =>
      provider.getList({
        resource: 'posts',
        filters: [{ field: 'publishedAt', operator, value: '2020-06-15' }],
      });
    expect(titlesOf(await list('eq'))).to.equal('Then');
    expect(titlesOf(await list('gt'))).to.equal('T1');
  });

  it('limits the fields of records', async () => {
    const [id = ''] = await posts(1);
    const params = { resource: 'posts', meta: { fields: ['title'] } };
    expect((await provider.getList(params)).data).to.deep.equal([{ id, title: 'T1' }]);
    const many = await provider.getMany({ ...params, ids: [id] });
    expect(many.data).to.deep.equal([{ id, title: 'T1' }]);
  });

  it('includes the authors of posts if requested', async () => {
    const { record: ada } = await client.users.create({ name: 'Ada', email: 'ada@example.com' });
    await posts(120);
    await client.posts.create({ title: 'Notes', authorId: ada.id });
    const users = [{ id: ada.id, name: 'Ada', createdAt: ada.createdAt }];
    const list = { resource: 'posts', meta: { include: 'author' as const } };
    expect(await provider.getList({ ...list, sorters })).to.deep.include({ users });
    const all = await provider.getList({ ...list, pagination: { mode: 'off' } });
    expect(all).to.deep.include({ users, total: 121 });
    expect(await provider.getList({ resource: 'posts' })).to.not.have.property('users');
  });

  it('rejects other resources', async () => {
    const call = provider.getOne({ resource: 'comments', id: 1 });
    const error: RefineError = await call.catch((reason) => reason);
    expect(error).to.deep.include({ statusCode: 400, errors: {} });
    expect(error.message).to.include('comments');
  });

  it('gets, creates, updates and deletes one record', async () => {
    const { data } = await provider.create({
      resource: 'users',
      variables: { name: 'Ada', born: 1815, rank: null },
    });
    const { id = '' } = data;
    const one = { resource: 'users', id };
    expect((await provider.getOne(one)).data).to.deep.equal(data);
    const updated = await provider.update({ ...one, variables: { name: 'Countess', rank: null } });
    expect(updated.data).to.include({ name: 'Countess', born: 1815, rank: null });
    const without = await provider.update({ ...one, variables: { born: null } });
    expect(without.data).not.to.have.property('born');
    expect((await provider.deleteOne(one)).data).to.deep.equal({ id });
    const error: RefineError = await provider.getOne(one).catch((reason) => reason);
    expect(error).to.have.property('statusCode', 404);
  });

  it('gets, creates, updates and deletes many', async () => {
    const variables = Array.from({ length: 20 }, (_, n) => ({ title: `T${n}` }));
    const { data } = await provider.createMany({ resource: 'posts', variables });
    expect(data.map(({ title }) => title)).to.deep.equal(variables.map(({ title }) => title));
    const many = { resource: 'posts', ids: data.map(({ id = '' }) => id) };
    expect((await provider.getMany(many)).data).to.have.deep.members(data);
    const updated = await provider.updateMany({ ...many, variables: { body: 'b' } });
    expect(updated.data.map(({ body }) => body)).to.deep.equal(variables.map(() => 'b'));
    expect((await provider.deleteMany(many)).data).to.have.length(20);
    expect((await client.posts.list()).items).to.deep.equal([]);
  });

  it('changes many records, and reports which ones failed', async () => {
    const ids = await posts(12);
    const many = { resource: 'posts', ids: ['gone', ...ids] };
    const update = provider.updateMany({ ...many, variables: { body: 'b' } });
    const error: RefineError = await update.catch((reason) => reason);
    expect(error).to.have.property('statusCode', 404);
    expect(error.failed?.map(({ id }) => id)).to.deep.equal(['gone']);
    const { items } = await client.posts.list();
    expect(items.map(({ body }) => body)).to.deep.equal(ids.map(() => 'b'));
    expect((await provider.deleteMany(many)).data).to.have.length(13);
    expect((await client.posts.list()).items).to.deep.equal([]);

    const variables = [{ title: 'A' }, { title: '' }, { title: 'C' }];
    const creation = provider.createMany({ resource: 'posts', variables });
    const refusal: RefineError = await creation.catch((reason) => reason);
    expect(refusal).to.have.property('statusCode', 422);
    expect(refusal.failed?.map(({ id }) => id)).to.deep.equal([1]);
    expect((await client.posts.list()).items).to.have.length(2);
  });

  it('rejects an update only if the same fields changed since they were read', async () => {
    const { record } = await client.users.create({ name: 'Ada' });
    await client.users.patch(record.id, { name: 'B', born: 1815 });
    const one = { resource: 'users', id: record.id, meta: { previousData: record } };
    const update = (changes: object) =>
      provider.update({ ...one, variables: { ...record, ...changes } });
    expect((await update({ rank: 1 })).data).to.include({ name: 'B', born: 1815, rank: 1 });
    for (const change of [() => update({ name: 'C' }), () => provider.deleteOne(one)]) {
      expect(await change().catch((reason) => reason)).to.have.property('statusCode', 412);
    }
  });

  it('rejects a change if updatedAt shows a newer version', async () => {
    const { record } = await client.users.create({ name: 'Ada' });
    const { record: present } = await client.users.patch(record.id, { name: 'B' });
    const { id, updatedAt } = record;
    const one = { resource: 'users', id };
    for (const change of [
      () => provider.update({ ...one, variables: { ...record, name: 'C' } }),
      () => provider.update({ ...one, variables: { name: 'C' }, meta: { updatedAt } }),
      () => provider.deleteOne({ ...one, meta: { updatedAt } }),
    ]) {
      expect(await change().catch((reason) => reason)).to.have.property('statusCode', 412);
    }
    await provider.update({ ...one, variables: { ...present, name: 'C' } });
    await provider.deleteOne(one);
  });

  it('aborts a read with the signal of its query', async () => {
    const reason = new Error('enough');
    const meta = { queryContext: { signal: AbortSignal.abort(reason) } };
    const provider = refineProvider(client);
    for (const read of [
      () => provider.getList({ resource: 'posts', meta }),
      () => provider.getList({ resource: 'posts', pagination: { mode: 'off' }, meta }),
      () => provider.getOne({ resource: 'posts', id: 'p', meta }),
      () => provider.getMany({ resource: 'posts', ids: ['p'], meta }),
    ]) {
      expect(await read().catch((error) => error)).to.equal(reason);
    }
  });

  it('deletes users with or without their posts', async () => {
    const { id: authorId } = (await client.users.create({ name: 'Ada' })).record;
    await client.posts.create({ title: 'A', authorId });
    const one = { resource: 'users', id: authorId };
    expect(await provider.deleteOne(one).catch((reason) => reason)).to.have.property(
      'statusCode',
      409,
    );
    const meta = { posts: 'keep' } as const;
    await provider.deleteMany({ resource: 'users', ids: [authorId], meta });
    const [post] = (await client.posts.list({ authorId: null })).items;
    // Forms share one "meta" for all resources, so it must not affect posts.
    await provider.deleteOne({ resource: 'posts', id: post?.id ?? '', meta });
    expect((await client.posts.list()).items).to.deep.equal([]);
  });

  describe('inside refine', () => {
    inDevelopment(() => false);

    const inRefine = (child: ReactNode) =>
      createElement(
        Refine,
        {
          dataProvider: provider,
          resources: [{ name: 'users' }, { name: 'posts' }],
          options: {
            disableTelemetry: true,
            reactQuery: {
              clientConfig: { defaultOptions: { queries: { retry: false, gcTime: 0 } } },
            },
          },
        },
        child,
      );

    it('useTable shows its pages', async () => {
      await posts(5);
      const options = {
        resource: 'posts',
        pagination: { pageSize: 2 },
        sorters: { initial: sorters },
      };
      using table = await renderHook(() => useTable(options), inRefine);
      const first = await table.until(({ result }) => result.data.length > 0);
      expect(first.pageCount).to.equal(3);
      first.setCurrentPage(3);
      const last = await table.until(({ result }) => result.data.length === 1);
      expect(titlesOf(last.result)).to.equal('T5');
    });

    it('useInfiniteList follows cursors to the end', async () => {
      await posts(5);
      const options = { resource: 'posts', sorters, pagination: { pageSize: 2 } };
      using list = await renderHook(() => useInfiniteList(options), inRefine);
      for (let pages = 1; pages <= 3; pages++) {
        await list.until(({ result }) => result.data?.pages.length === pages);
        if (pages < 3) await list.current.query.fetchNextPage();
      }
      const { data, hasNextPage } = list.current.result;
      expect(data?.pages.map(titlesOf)).to.deep.equal(['T1 T2', 'T3 T4', 'T5']);
      expect(data?.pageParams[1]).to.be.a('string');
      expect(hasNextPage).to.equal(false);
    });

    it('useMany works with ids of any length', async () => {
      const long = Array.from(
        { length: 100 },
        (_, n) => `https://example.org/${'x'.repeat(180)}${n}`,
      );
      const ids = [...long, ...(await posts(3))];
      using many = await renderHook(() => useMany({ resource: 'posts', ids }), inRefine);
      await many.until(({ result }) => result.data.length === 3);
    });

    it('useDeleteMany deletes the rest of a selection if a record is gone', async () => {
      const ids = await posts(12);
      await client.posts.delete(ids[1] ?? '');
      using deletion = await renderHook(() => useDeleteMany(), inRefine);
      await deletion.current.mutateAsync({ resource: 'posts', ids });
      expect((await client.posts.list()).items).to.deep.equal([]);
    });

    it('useForm receives field errors, and saves valid values', async () => {
      await client.users.create({ name: 'Ada', email: 'ada@example.com' });
      const options = { resource: 'users', action: 'create' as const, redirect: false as const };
      using form = await renderHook(() => useForm(options), inRefine);
      const wrong = { name: 'Eve', email: 'ADA@example.com' };
      await form.current.onFinish(wrong).catch(() => {});
      const { mutation } = await form.until((one) => one.mutation.isError);
      expect(mutation.error).to.have.property('statusCode', 409);
      expect(mutation.error?.errors).to.have.all.keys('email');
      await form.current.onFinish({ name: 'Eve' });
      expect((await client.users.list({ name: 'Eve' })).items).to.have.length(1);
    });
  });
});
