import { expect } from 'chai';
import type { Body } from '../support/answer.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';

describe('lists', () => {
  let api: Api;
  /** A clock that goes on by a second with each look at it. */
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

  /** Walks a list to its end, by `next` and by `Link`, which have to agree. */
  async function walk(query: string): Promise<Body[]> {
    const seen: Body[] = [];
    let path: string | undefined = `/users?${query}`;
    while (path !== undefined) {
      const { body, headers, status, text } = await api.get(path);
      expect(status, text).to.equal(200);
      seen.push(...body.users);
      const link = headers.get('link');
      if (body.next === null) {
        expect(link).to.equal(null);
        path = undefined;
      } else {
        const target = /^<\/api\/v1(\/users\?[^>]+)>; rel="next"$/.exec(link ?? '')?.[1] ?? '';
        expect(new URLSearchParams(target.slice(7)).get('cursor')).to.equal(body.next);
        path = target;
      }
    }
    return seen;
  }

  it('are newest first when nothing is said', async () => {
    expect((await names('/users')).names).to.deep.equal(['a', '😀', '～', 'a', 'b']);
  });

  it('sort by every field in both directions, text by code point', async () => {
    const made = ['b', 'a', '～', '😀', 'a'];
    for (const [sort, expected] of [
      ['createdAt', made],
      ['-createdAt', made.toReversed()],
      ['updatedAt', made],
      ['-updatedAt', made.toReversed()],
      ['name', ['a', 'a', 'b', '～', '😀']],
      ['-name', ['😀', '～', 'b', 'a', 'a']],
      ['email', ['～', 'a', 'a', 'b', '😀']],
      ['-email', ['😀', 'b', 'a', 'a', '～']],
    ] as const) {
      expect((await names(`/users?sort=${sort}`)).names, sort).to.deep.equal(expected);
    }
    const { body } = await api.get('/posts?sort=-title');
    expect(body.posts.map(({ title }) => title)).to.deep.equal(['Nobody’s', 'Hers']);
  });

  it('are walked page by page in every sort, each record once', async () => {
    for (const field of ['createdAt', 'updatedAt', 'name', 'email']) {
      for (const sort of [field, `-${field}`]) {
        const all = await names(`/users?sort=${sort}`);
        for (const limit of [1, 2, 5]) {
          const walked = await walk(`sort=${sort}&limit=${limit}`);
          expect(walked, `${sort} ${limit}`).to.deep.equal(all.users);
        }
      }
    }
  });

  it('count what the filter matches, on every page, when asked to', async () => {
    const { body, headers } = await api.get('/users?count=exact&limit=2&name=a');
    expect(body.total).to.equal(2);
    expect(headers.get('x-total-count')).to.equal('2');
    const second = await api.get('/users?count=exact&limit=1');
    const third = await api.get(`/users?count=exact&limit=1&cursor=${second.body.next}`);
    expect([second.body.total, third.body.total]).to.deep.equal([5, 5]);
  });

  it('filter by id, several of them as any of them', async () => {
    const { users } = await names('/users');
    const [first, , third] = users.map(({ id }) => id);
    const found = await names(`/users?id=${first}&id=${third}&id=${third}&id=never%00`);
    expect(found.users.map(({ id }) => id)).to.have.members([first, third]);
    expect((await names('/users?id=no-such-id')).names).to.deep.equal([]);
    const hundred = Array.from({ length: 100 }, () => `id=${first}`).join('&');
    expect((await names(`/users?${hundred}`)).names).to.have.lengthOf(1);
    const { errors } = expectProblem(await api.get(`/users?${hundred}&id=x`), 400, 'invalid-query');
    expect(errors[0]).to.include({ parameter: 'id' });
  });

  it('filter by the whole name and title, exactly, and by email in any case', async () => {
    expect((await names('/users?name=a')).names).to.deep.equal(['a', 'a']);
    expect((await names('/users?name=A')).names).to.deep.equal([]);
    expect((await names('/users?name=%F0%9F%98%80')).names).to.deep.equal(['😀']);
    expect((await names('/users?email=b@X.ORG')).names).to.deep.equal(['b']);
    expect((await names('/users?email=E%CC%81@x.org')).names).to.deep.equal(['😀']);
    expect((await names('/users?email=')).names).to.deep.equal([]);
    expect((await names('/users?name=a&email=a@x.org')).names).to.deep.equal(['a']);
    expect((await api.get('/posts?title=Hers')).body.posts).to.have.lengthOf(1);
  });

  it('filter posts by author; empty: those without one', async () => {
    const { id } = (await names('/users?name=b')).users[0] as Body;
    const titles = async (query: string) =>
      (await api.get(`/posts?${query}`)).body.posts.map(({ title }) => title);
    expect(await titles(`authorId=${id}`)).to.deep.equal(['Hers']);
    expect(await titles('authorId=')).to.deep.equal(['Nobody’s']);
    expect(await titles('authorId=nobody')).to.deep.equal([]);
  });

  it('filter by time, with any offset and any number of decimals', async () => {
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
    ] as const) {
      expect(await found(query), query).to.deep.equal(expected);
    }
  });

  it('refuse instants that are none', async () => {
    for (const value of ['', 'now', '2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00']) {
      const answer = await api.get(`/users?createdAt[gte]=${value}`);
      const { errors } = expectProblem(answer, 400, 'invalid-query');
      expect(errors[0]).to.include({ parameter: 'createdAt[gte]', code: 'invalid' });
    }
  });

  it('refuse limits, sorts and counts that there are not, and name them all', async () => {
    for (const limit of ['0', '1001', '-1', '1.5', '1e2', '', ' 1', '01', '٣', '9'.repeat(400)]) {
      const answer = await api.get(`/users?limit=${encodeURIComponent(limit)}`);
      expectProblem(answer, 400, 'invalid-query');
    }
    const answer = await api.get('/posts?limit=x&sort=name&count=1&email=a');
    const { errors, allowed } = expectProblem(answer, 400, 'invalid-query');
    expect(errors.map(({ parameter }) => parameter)).to.deep.equal([
      'limit',
      'sort',
      'count',
      'email',
    ]);
    expect(allowed).to.include.members(['limit', 'cursor', 'sort', 'authorId', 'createdAt[lt]']);
    expect((await api.get('/users?limit=1000')).status).to.equal(200);
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

    it('may go on with another limit and another count', async () => {
      const path = `/users?sort=name&cursor=${cursor}`;
      expect((await api.get(`${path}&limit=3`)).body.users).to.have.lengthOf(3);
      expect((await api.get(`${path}&count=exact`)).body.total).to.equal(5);
    });

    it('is bound to its sort, its filter and its list', async () => {
      await expectRefused(`/users?cursor=${cursor}`);
      await expectRefused(`/users?sort=-name&cursor=${cursor}`);
      await expectRefused(`/users?sort=email&cursor=${cursor}`);
      await expectRefused(`/users?sort=name&name=a&cursor=${cursor}`);
      await expectRefused(`/users?sort=name&createdAt[gte]=2026-01-01T00:00:00Z&cursor=${cursor}`);
      await expectRefused(`/users?sort=name&id=x&cursor=${cursor}`);
      const posts = await api.get('/posts?limit=1');
      await expectRefused(`/users?cursor=${posts.body.next}`);
    });

    it('does not mind how the same filter is written', async () => {
      const { users } = await names('/users');
      const [a, b] = users.map(({ id }) => id);
      const time = 'createdAt[gte]=2026-01-01T00:00:00';
      const first = await api.get(`/users?limit=1&id=${a}&id=${b}&${time}Z`);
      const path = `/users?${time}%2B00:00&id=${b}&id=${a}&id=${a}&cursor=${first.body.next}`;
      expect((await api.get(path)).body.users).to.have.lengthOf(1);
      const mails = await api.get('/users?limit=1&email=A@x.org');
      expect(mails.body.next).to.equal(null);
    });

    it('is refused when any of its characters is changed', async () => {
      for (let i = 0; i < cursor.length; i++) {
        const other = cursor[i] === 'A' ? 'B' : 'A';
        await expectRefused(
          `/users?sort=name&cursor=${cursor.slice(0, i)}${other}${cursor.slice(i + 1)}`,
        );
      }
    });

    it('is only the very text that was given', async () => {
      const text = Buffer.from(cursor, 'base64url').toString();
      const as = (value: string) => Buffer.from(value).toString('base64url');
      for (const other of [
        '',
        'x',
        `${cursor}=`,
        `${cursor}A`,
        `${cursor} `,
        cursor.slice(0, -1),
        as(` ${text}`),
        as(text.replace(']', ',1]')),
        as(text.replace('"2', '"3')),
        as('null'),
        as('[]'),
        as('{}'),
        as('[1,2,3]'),
        as(text.replace('"a"', 'null')),
        as(text.replace('"a"', '1')),
        as(text.replace('"a"', '"\\ud800"')),
        as(text.replace('"a"', '"\\u0000"')),
        as('['.repeat(4000)),
      ]) {
        await expectRefused(`/users?sort=name&cursor=${encodeURIComponent(other)}`);
      }
      const times = await api.get('/users?limit=1');
      const inner = Buffer.from(times.body.next ?? '', 'base64url').toString();
      await expectRefused(`/users?cursor=${as(inner.replace(/"20[^"]+"/, '"yesterday"'))}`);
    });
  });

  it('end a page before it has more than 2 MiB', async () => {
    await using large = await startApi();
    const own = 'x'.repeat(1_000_000);
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

  it('leave out a Link that is longer than 8 KiB', async () => {
    const long = 'x'.repeat(9000);
    const ids = (await names('/users')).users.map(({ id }) => `id=${id}`).join('&');
    const { body, headers } = await api.get(`/users?limit=1&${ids}&id=${long}`);
    expect([typeof body.next, headers.has('link')]).to.deep.equal(['string', false]);
  });
});
