import { expect } from 'chai';
import type { Body } from '../support/answer.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';

describe('lists', () => {
  let api: Api;
  /** A clock that advances by a second with each reading. */
  let seconds = 0;
  const clock = {
    now: () => new Date(Date.UTC(2026, 0, 1) + 1000 * seconds++).toISOString(),
  };

  before(async () => {
    api = await startApi({ core: { clock } });
    for (const [name, email] of [
      ['b', 'B@x.org'],
      ['a', 'a@x.org'],
      ['～', null],
      ['😀', 'é@x.org'],
      ['a', null],
    ] as const) {
      await api.make('/users', { name, email });
    }
    const { id } = (await names('/users?name=b&limit=1')).users[0] as Body;
    await api.make('/posts', { title: 'Hers', authorId: id });
    await api.make('/posts', { title: 'Nobody’s' });
  });
  after(() => api[Symbol.asyncDispose]());

  async function names(path: string): Promise<{ users: readonly Body[]; names: string[] }> {
    const { status, body, text } = await api.get(path);
    expect(status, text).to.equal(200);
    return { users: body.users, names: body.users.map(({ name }) => name) };
  }

  // The contract suite (src/testing/lists) tests sorting, filters and pages on every store.

  it('are sorted newest first by default, else by the sort parameter', async () => {
    for (const [query, expected] of [
      ['', ['a', '😀', '～', 'a', 'b']],
      ['?sort=updatedAt', ['b', 'a', '～', '😀', 'a']],
      ['?sort=-name', ['😀', '～', 'b', 'a', 'a']],
      ['?sort=email', ['～', 'a', 'a', 'b', '😀']],
    ] as const) {
      expect((await names(`/users${query}`)).names, query).to.deep.equal(expected);
    }
    const { body } = await api.get('/posts?sort=-title');
    expect(body.posts.map(({ title }) => title)).to.deep.equal(['Nobody’s', 'Hers']);
  });

  it('can be paged with next and with Link, which agree', async () => {
    for (const query of ['limit=2', 'limit=1&sort=name&updatedAt[gte]=2026-01-01T00:00:00Z']) {
      const all = await names(`/users?${query.replace(/limit=./, 'limit=9')}`);
      const seen: Body[] = [];
      let path = `/users?${query}`;
      while (path !== '') {
        const { body, headers } = await api.get(path);
        seen.push(...body.users);
        const link = headers.get('link') ?? '';
        path = /^<\/api\/v1(\/users\?[^>]+)>; rel="next"$/.exec(link)?.[1] ?? '';
        expect(new URLSearchParams(path.slice(7)).get('cursor'), link).to.equal(body.next);
      }
      expect(seen, query).to.deep.equal(all.users);
    }
  });

  it('return the total of matching records on every page for count=exact', async () => {
    const { body, headers } = await api.get('/users?count=exact&limit=1&name=a');
    expect([body.total, headers.get('x-total-count')]).to.deep.equal([2, '2']);
    const next = await api.get(`/users?count=exact&limit=1&name=a&cursor=${body.next}`);
    expect(next.body.total).to.equal(2);
  });

  it('filter by every filter field', async () => {
    const { users } = await names('/users?sort=createdAt');
    const [b, a] = users.map(({ id }) => id);
    for (const [query, expected] of [
      [`id=${b}&id=${a}&id=${a}&id=never%00`, ['a', 'b']],
      ['id=no-such-id', []],
      [Array.from({ length: 100 }, () => `id=${b}`).join('&'), ['b']],
      ['name=a', ['a', 'a']],
      ['name=A', []],
      ['name=%F0%9F%98%80', ['😀']],
      ['email=b@X.ORG', ['b']],
      ['email=E%CC%81@x.org', ['😀']],
      ['email=', []],
      ['name=a&email=a@x.org', ['a']],
    ] as const) {
      expect((await names(`/users?${query}`)).names, query).to.deep.equal(expected);
    }
    for (const [query, expected] of [
      ['title=Hers', ['Hers']],
      [`authorId=${b}`, ['Hers']],
      ['authorId=', ['Nobody’s']],
      ['authorId=nobody', []],
    ] as const) {
      const { posts } = (await api.get(`/posts?${query}`)).body;
      expect(posts.map(({ title }) => title)).to.deep.equal(expected);
    }
  });

  it('filter by time, with any UTC offset and any number of decimals', async () => {
    const { users } = await names('/users?sort=createdAt');
    const at = (i: number) => users[i]?.createdAt ?? '';
    const later = (i: number, tail: string) => at(i).replace('Z', tail);
    const found = async (query: string) =>
      (await names(`/users?sort=createdAt&${query}`)).users.map(({ createdAt }) =>
        users.findIndex((user) => user.createdAt === createdAt),
      );
    for (const [query, expected] of [
      [`createdAt[gte]=${at(2)}`, [2, 3, 4]],
      [`createdAt[gt]=${at(2)}`, [3, 4]],
      [`createdAt[lte]=${at(2)}`, [0, 1, 2]],
      [`createdAt[lt]=${at(2)}`, [0, 1]],
      [`createdAt%5Bgte%5D=${at(1)}&createdAt%5Blt%5D=${at(3)}`, [1, 2]],
      [`createdAt[gte]=${at(1)}&createdAt[gt]=${at(0)}&createdAt[lte]=${at(1)}`, [1]],
      [`createdAt[gte]=${later(2, '5Z')}`, [3, 4]],
      [`createdAt[gt]=${later(2, '0001Z')}`, [3, 4]],
      [`createdAt[lte]=${later(2, '999Z')}`, [0, 1, 2]],
      [`createdAt[lt]=${later(2, '5Z')}`, [0, 1, 2]],
      [`createdAt[lt]=${later(2, '000Z')}`, [0, 1]],
      ['updatedAt[gte]=2026-01-01T01:00:00%2B01:00', [0, 1, 2, 3, 4]],
      ['updatedAt[gte]=2026-01-01T01:00:00+01:00', [0, 1, 2, 3, 4]],
      ['updatedAt[lt]=2025-12-31T22:00:00-02:00', []],
      ['createdAt[lte]=9999-12-31T23:59:59.999Z', [0, 1, 2, 3, 4]],
      ['createdAt[gt]=9999-12-31T23:59:59.999Z', []],
      ['createdAt[gt]=9999-12-31T23:59:59-23:59', []],
      ['createdAt[gte]=0000-01-01T00:00:00%2B23:59', [0, 1, 2, 3, 4]],
      ['createdAt[lt]=0000-01-01T00:00:00%2B23:59', []],
      ['createdAt[lt]=9999-12-31T23:59:59.999999999Z', [0, 1, 2, 3, 4]],
    ] as const) {
      expect(await found(query), query).to.deep.equal(expected);
    }
    const { id } = (await api.post('/posts', { title: 'Draft', publishedAt: null })).body;
    for (const all of ['[lt]=9999-12-31T23:59:59.999999999Z', '[gte]=0000-01-01T00:00:00Z']) {
      const { status, body } = await api.get(`/posts?id=${id}&publishedAt${all}`);
      expect([status, body.posts], all).to.deep.equal([200, []]);
    }
  });

  it('reject invalid values, listing all of them and the allowed parameters', async () => {
    const times = ['', 'now', '2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00'];
    const limits = ['0', '1001', '-1', '1.5', '1e2', '', ' 1', '01', '٣', '9'.repeat(400)];
    for (const [parameter, values] of [
      ['createdAt[gte]', times],
      ['limit', limits],
      ['sort', ['', 'title', '--name']],
    ] as const) {
      for (const value of values) {
        const answer = await api.get(`/users?${parameter}=${encodeURIComponent(value)}`);
        const { errors } = expectProblem(answer, 400, 'invalid-query');
        expect(errors[0], value).to.include({ parameter, code: 'invalid' });
      }
    }
    const many = Array.from({ length: 101 }, () => 'id=x').join('&');
    const answer = await api.get(`/posts?limit=x&sort=name&count=1&email=a&${many}`);
    const { errors, allowed } = expectProblem(answer, 400, 'invalid-query');
    const wrong = errors.map(({ parameter }) => parameter);
    expect(wrong).to.deep.equal(['limit', 'sort', 'count', 'email', 'id']);
    expect(allowed).to.include.members(['limit', 'cursor', 'sort', 'authorId', 'createdAt[lt]']);
    expect((await api.get('/users?limit=1000')).status).to.equal(200);
    const nobody = expectProblem(await api.get('/posts?authorId=null'), 400, 'invalid-query');
    expect(nobody.error).to.contain('authorId=.');
  });

  describe('a cursor', () => {
    let cursor = '';
    before(async () => {
      cursor = (await api.get('/users?limit=1&sort=name&name=a&id=x')).body.next ?? '';
      expect(cursor).to.equal('');
      cursor = (await api.get('/users?limit=1&sort=name')).body.next ?? '';
      expect(cursor).to.match(/^[\w-]+$/);
    });

    async function expectRefused(query: string): Promise<void> {
      const { errors } = expectProblem(await api.get(query), 400, 'invalid-cursor');
      expect(errors[0]).to.include({ parameter: 'cursor' });
    }

    it('works with a different limit or count', async () => {
      const path = `/users?sort=name&cursor=${cursor}`;
      expect((await api.get(`${path}&limit=3`)).body.users).to.have.lengthOf(3);
      expect((await api.get(`${path}&count=exact`)).body.total).to.equal(5);
    });

    it('only works with the same sort, filter and list', async () => {
      const others = ['sort=-name', 'sort=email', 'sort=name&name=a', 'sort=name&id=x'];
      for (const query of ['', ...others, 'sort=name&createdAt[gte]=2026-01-01T00:00:00Z']) {
        await expectRefused(`/users?${query}&cursor=${cursor}`);
      }
      const posts = await api.get('/posts?limit=1');
      await expectRefused(`/users?cursor=${posts.body.next}`);
    });

    it('works with the same filter in another notation', async () => {
      const { users } = await names('/users');
      const [a, b] = users.map(({ id }) => id);
      const time = 'createdAt[gte]=2026-01-01T00:00:00';
      const first = await api.get(`/users?limit=1&id=${a}&id=${b}&${time}Z`);
      const path = `/users?${time}%2B00:00&id=${b}&id=${a}&id=${a}&cursor=${first.body.next}`;
      expect((await api.get(path)).body.users).to.have.lengthOf(1);
      const mails = await api.get('/users?limit=1&email=A@x.org');
      expect(mails.body.next).to.equal(null);
    });

    it('is rejected if any character is changed', async () => {
      for (let i = 0; i < cursor.length; i++) {
        const other = cursor[i] === 'A' ? 'B' : 'A';
        await expectRefused(
          `/users?sort=name&cursor=${cursor.slice(0, i)}${other}${cursor.slice(i + 1)}`,
        );
      }
    });

    it('is rejected if it is not exactly the text that the server returned', async () => {
      const text = Buffer.from(cursor, 'base64url').toString();
      const as = (value: string) => Buffer.from(value).toString('base64url');
      for (const other of [
        ...['', 'x', `${cursor}=`, `${cursor}A`, `${cursor} `, cursor.slice(0, -1)],
        ...['null', '[]', '{}', '[1,2,3]', '['.repeat(4000), ` ${text}`].map(as),
        as(text.replace(']', ',1]')),
        as(text.replace('"2', '"3')),
        as(text.replace('"a"', 'null')),
        as(text.replace('"a"', '1')),
        as(text.replace('"a"', '"\\ud800"')),
        as(text.replace('"a"', '"\\u0000"')),
      ]) {
        await expectRefused(`/users?sort=name&cursor=${encodeURIComponent(other)}`);
      }
      const times = await api.get('/users?limit=1');
      const inner = Buffer.from(times.body.next ?? '', 'base64url').toString();
      await expectRefused(`/users?cursor=${as(inner.replace(/"20[^"]+"/, '"yesterday"'))}`);
    });
  });

  it('end a page before it exceeds 1 MiB', async () => {
    await using large = await startApi();
    const own = 'x'.repeat(500_000);
    for (let i = 0; i < 5; i++) await large.make('/users', { name: `n${i}`, own });
    const pages: number[] = [];
    let path: string | undefined = '/users?limit=1000';
    while (path !== undefined) {
      const { body }: { body: Body } = await large.get(path);
      pages.push(body.users.length);
      path = body.next === null ? undefined : `/users?limit=1000&cursor=${body.next}`;
    }
    expect(pages).to.deep.equal([2, 2, 1]);
  });

  it('omit a Link header longer than 8 KiB', async () => {
    const long = 'x'.repeat(9000);
    const ids = (await names('/users')).users.map(({ id }) => `id=${id}`).join('&');
    const { body, headers } = await api.get(`/users?limit=1&${ids}&id=${long}`);
    expect([typeof body.next, headers.has('link')]).to.deep.equal(['string', false]);
  });
});
