import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Id, type Scope } from '../../../../src/index.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { exchange } from '../support/raw.ts';

// Attacks over HTTP that worked on comparable servers (docs/security.md). test/domain/access.test.ts tests
// ownership, relations and cascades. The key file, tokens, limits and the program have their own tests.

describe('attacks', () => {
  const store = createMemoryStore();
  const { users, posts } = createRostrum(store);
  let api: Api;
  let ada: Id;
  let bob: Id;
  before(async () => {
    api = await startApi({ store, app: { authenticate } });
  });
  after(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    ada = (await users.create({ name: 'Ada' })).record.id;
    bob = (await users.create({ name: 'Bob' })).record.id;
  });

  const asAda = (...given: Scope[]) => as({ name: 'ada', subject: ada, scopes: given });
  const own = () => asAda('users:write:own', 'posts:write:own');
  const postOf = async (authorId: Id | null) =>
    (await posts.create({ title: 'secret', authorId })).record.id;
  const forbidden = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ) => expectProblem(await api.send(method, path, headers, body), 403, 'forbidden');

  it('filters, sorts, counts and cursors reveal nothing about records the caller cannot read', async () => {
    await Promise.all([postOf(ada), postOf(bob)]);
    const headers = { ...asAda('users:read', 'posts:write', 'users:write'), 'X-Request-Id': 'one' };
    const told = new Set<string>();
    for (const query of [
      ...['title=secret', 'title=other', `authorId=${ada}`, 'count=exact', 'limit=1', 'id=x'],
      ...['sort=title', 'sort=password', 'cursor=x', 'createdAt[gt]=2020-01-01T00:00:00Z'],
    ]) {
      const answer = await api.get(`/posts?${query}`, headers);
      expectProblem(answer, 403, 'forbidden');
      expect(answer.headers.get('x-total-count')).to.equal(null);
      told.add(answer.text);
    }
    expect(told.size).to.equal(1);
  });

  it('no header, cookie or body field can impersonate another caller', async () => {
    const claims: Record<string, string>[] = [
      ...['X-User', 'X-Forwarded-User', 'X-Caller', 'X-Subject'].map((name) => ({ [name]: bob })),
      { Cookie: `sub=${bob}` },
      { 'Proxy-Authorization': own().Authorization },
    ];
    for (const claim of claims) {
      await forbidden('PATCH', `/users/${bob}`, { ...own(), ...claim }, { name: 'x', id: bob });
      await forbidden('POST', '/posts', { ...own(), ...claim }, { title: 'x', authorId: bob });
      expect((await api.get('/users', claim)).status).to.equal(401);
    }
    const body = { title: 'x', caller: bob, subject: bob, sub: bob, scopes: ['posts:write'] };
    const made = await api.post('/posts', body, own());
    expect([made.status, made.body.authorId]).to.deep.equal([201, ada]);
  });

  it('no request body can change the owner, id or times of a record', async () => {
    const [hers, his] = [await postOf(ada), await postOf(bob)];
    await forbidden('PATCH', `/posts/${hers}`, own(), { authorId: bob });
    await forbidden('PUT', `/posts/${his}`, own(), { title: 'x', authorId: ada });
    const early = '2001-01-01T00:00:00.000Z';
    const times = { createdAt: early, updatedAt: early };
    const current = (await posts.get(hers)).record;
    const put = { ...times, title: 'z', authorId: ada };
    const { body: changed } = await api.send('PUT', `/posts/${hers}`, own(), put);
    expect(changed).to.include({ id: hers, createdAt: current.createdAt, authorId: ada });
    expect(changed.updatedAt > current.updatedAt).to.equal(true);
    const { body: made } = await api.post('/posts', { id: his, ...times, title: 'x' }, own());
    expect(made.id).not.to.equal(his);
    expect(made.createdAt).not.to.equal(early);
  });

  it('no method, header or spelling of a path bypasses the check', async () => {
    const id = await postOf(ada);
    const path = `/posts/${id}`;
    const ways: [string, string, Record<string, string>?][] = [
      ['HEAD', path],
      ['HEAD', '/posts'],
      ['GET', path, { 'If-None-Match': '*' }],
      ['GET', path, { 'If-Match': '"9"' }],
      ['PUT', path, { 'If-Match': '"9"' }],
      ['DELETE', path, { 'If-Match': '"9"' }],
      ['POST', '/posts', { 'Idempotency-Key': 'k', 'X-HTTP-Method-Override': 'GET' }],
      ['GET', path, { 'X-Original-URL': '/livez', 'X-Rewrite-URL': '/livez' }],
      ['GET', '/%70osts'],
      ['GET', path, { Range: 'bytes=0-1' }],
    ];
    for (const [method, target, headers] of ways) {
      const without = await api.send(method, target, headers, method === 'PUT' ? {} : undefined);
      expect(without.status, `${method} ${target}`).to.equal(401);
      const poor = await api.send(method, target, {
        ...headers,
        ...asAda('users:read', 'users:write'),
      });
      expect(poor.status, `${method} ${target}`).to.equal(403);
      for (const { headers: answered } of [without, poor]) {
        expect(answered.get('etag')).to.equal(null);
        expect(answered.get('cache-control')).to.equal('no-store');
      }
    }
    for (const odd of [
      '/POSTS',
      '/posts/',
      '/users/../posts',
      '//posts',
      '/posts;x',
      '/posts.json',
    ]) {
      const { status, text } = await api.get(odd);
      expect(status, odd).to.be.oneOf([401, 404]);
      expect(text).not.to.include('secret');
    }
    const target = `${api.server.url}/api/v1/posts`;
    const absolute = await exchange(api.server, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(absolute?.status).to.equal(401);
  });

  it('a replay is rejected if the caller has lost the scope', async () => {
    const key = { 'Idempotency-Key': 'wide' };
    const named = { title: 'x', authorId: bob };
    const made = await api.post('/posts', named, { ...asAda('posts:write'), ...key });
    expect(made.status).to.equal(201);
    expectProblem(await api.post('/posts', named, { ...own(), ...key }), 403, 'forbidden');
  });
});
