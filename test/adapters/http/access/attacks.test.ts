import { expect } from 'chai';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Id, type Scope } from '../../../../src/index.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { exchange } from '../support/raw.ts';

// One test or more for each class of attack that hurt a peer (docs/security.md). The key file, the
// checks of tokens, limits, and the program have theirs in files of their own.

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

  it('filters, sorts, counts and cursors are no oracle on what may not be read', async () => {
    await Promise.all([postOf(ada), postOf(bob)]);
    const { next } = await posts.list({ limit: 1 });
    expect(next).not.to.equal(undefined);
    const headers = { ...asAda('users:read', 'posts:write', 'users:write'), 'X-Request-Id': 'one' };
    const queries = [
      ...['title=secret', 'title=other', `authorId=${ada}`, 'authorId=', 'count=exact', 'limit=1'],
      ...[
        'sort=title',
        'sort=password',
        'cursor=x',
        `cursor=${next}`,
        'createdAt[gt]=2020-01-01T00:00:00Z',
        'id=x',
      ],
    ];
    const told = new Set<string>();
    for (const query of queries) {
      const answer = await api.get(`/posts?${query}`, headers);
      expectProblem(answer, 403, 'forbidden');
      expect(answer.headers.get('x-total-count')).to.equal(null);
      told.add(answer.text);
    }
    expect(told.size).to.equal(1);
  });

  it('relations and cascades lead round no rule', async () => {
    const [hers, his] = [await postOf(ada), await postOf(bob)];
    for (const mode of ['delete', 'keep']) {
      const path = `/users/${ada}?posts=${mode}`;
      await forbidden('DELETE', path, asAda('users:write:own'));
      await forbidden('DELETE', path, asAda('users:write', 'posts:read'));
      await forbidden(
        'DELETE',
        `/users/${bob}?posts=${mode}`,
        asAda('users:write', 'posts:write:own'),
      );
      await forbidden('DELETE', `/users/${bob}?posts=${mode}`, own());
    }
    for (const id of [hers, his]) expect((await posts.get(id)).version).to.equal(1);
    const done = await api.send('DELETE', `/users/${ada}?posts=delete`, own());
    expect(done.status).to.equal(200);
    expect(await store.posts.get(hers)).to.equal(undefined);
  });

  it('nobody is somebody because the request says so', async () => {
    const claims: Record<string, string>[] = [
      ...[
        { 'X-User': bob },
        { 'X-Forwarded-User': bob },
        { 'X-Caller': bob },
        { 'X-Subject': bob },
      ],
      ...[{ Cookie: `sub=${bob}` }, { 'Proxy-Authorization': own().Authorization }],
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

  it('no body changes an owner, an id or a time', async () => {
    const [hers, his, nobodys] = [await postOf(ada), await postOf(bob), await postOf(null)];
    const current = (await posts.get(hers)).record;
    for (const authorId of [bob, null]) {
      await forbidden('PATCH', `/posts/${hers}`, own(), { authorId });
      await forbidden('PUT', `/posts/${hers}`, own(), { title: 'x', authorId });
      await forbidden('POST', '/posts', own(), { title: 'x', authorId });
    }
    await forbidden('PUT', `/posts/${hers}`, own(), { title: 'without an author' });
    for (const id of [his, nobodys]) {
      await forbidden('PATCH', `/posts/${id}`, own(), { authorId: ada });
      await forbidden('PUT', `/posts/${id}`, own(), { title: 'x', authorId: ada });
    }
    const early = '2001-01-01T00:00:00.000Z';
    for (const [method, path, body] of [
      ['PATCH', `/posts/${hers}`, { createdAt: early, updatedAt: null, title: 'y' }],
      ['PUT', `/posts/${hers}`, { createdAt: early, updatedAt: early, title: 'z', authorId: ada }],
    ] as const) {
      const { body: changed } = await api.send(method, path, own(), body);
      expect(changed).to.include({ id: hers, createdAt: current.createdAt, authorId: ada });
      expect(changed.updatedAt > current.updatedAt).to.equal(true);
    }
    const other = await api.send('PATCH', `/posts/${hers}`, own(), { id: his });
    expectProblem(other, 422, 'invalid-record');
    const made = await api.post('/posts', { id: his, createdAt: early, title: 'x' }, own());
    expect(made.body.id).not.to.equal(his);
    expect(made.body.createdAt).not.to.equal(early);
  });

  it('there is no way in without the check', async () => {
    const id = await postOf(ada);
    const path = `/posts/${id}`;
    const ways: [string, string, Record<string, string>?][] = [
      ['HEAD', path],
      ['HEAD', '/posts'],
      ['OPTIONS', path],
      ['OPTIONS', '/posts', { Origin: 'https://a.b', 'Access-Control-Request-Method': 'GET' }],
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

  it('a replay is for its caller, and for as long as the caller may', async () => {
    const key = { 'Idempotency-Key': 'replayed' };
    const first = await api.post('/posts', { title: 'x' }, { ...own(), ...key });
    const again = await api.post('/posts', { title: 'x' }, { ...own(), ...key });
    expect([again.body.id, again.headers.get('idempotency-replayed')]).to.deep.equal([
      first.body.id,
      'true',
    ]);
    const poorer = { ...asAda('posts:read'), ...key };
    expectProblem(await api.post('/posts', { title: 'x' }, poorer), 403, 'forbidden');
    const wide = { ...asAda('posts:write'), ...key };
    const named = { title: 'x', authorId: bob };
    await api.post('/posts', named, { ...wide, 'Idempotency-Key': 'wide' });
    const narrow = await api.post('/posts', named, { ...own(), 'Idempotency-Key': 'wide' });
    expectProblem(narrow, 403, 'forbidden');
    const other = { ...as({ name: 'bob', subject: bob, scopes: ['posts:write:own'] }), ...key };
    const his = await api.post('/posts', { title: 'x' }, other);
    expect([his.status, his.body.id === first.body.id]).to.deep.equal([201, false]);
  });

  it('nothing counts as yes: no scope, no user, no author', async () => {
    const nobodys = await postOf(null);
    const headless = as({ subject: null, scopes: ['users:write:own', 'posts:write:own'] });
    await forbidden('PATCH', `/posts/${nobodys}`, headless, {});
    await forbidden('POST', '/posts', headless, { title: 'x' });
    await forbidden('POST', '/posts', headless, { title: 'x', authorId: null });
    await forbidden('PATCH', `/users/${ada}`, headless, {});
    await forbidden('GET', '/users', as({ scopes: [] }));
    const stranger = as({
      subject: 'no-such-user',
      scopes: ['users:write:own', 'posts:write:own'],
    });
    await forbidden('DELETE', `/users/${ada}`, stranger);
    const made = await api.post('/posts', { title: 'x' }, stranger);
    expectProblem(made, 422, 'invalid-record');
  });
});
