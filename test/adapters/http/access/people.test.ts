import { expect } from 'chai';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum, type Scope, scopes } from '../../../../src/index.ts';
import type { Answer } from '../support/answer.ts';
import { expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { keepLog } from '../support/log.ts';

const readers: readonly Scope[] = ['posts:read', 'users:read:public'];

function tagOf({ headers }: Answer): string | null {
  return headers.get('etag');
}

describe('a request without credentials', () => {
  /** Requests that the scopes of `readers` don't allow. */
  const more: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', '/users?email=a@x.org'],
    ['GET', '/users?sort=-email'],
    ['GET', '/users?updatedAt[gt]=2026-01-01T00:00:00Z'],
    ['POST', '/users', { name: 'Ann' }],
    ['PATCH', '/users/none', {}],
    ['DELETE', '/posts/none'],
    ['GET', '/users/me'],
    ['PUT', '/users/me', { name: 'Ann' }],
    ['GET', '/posts?authorId=me'],
  ];

  it('has the anonymous scopes; for more it gets 401, or 403 if there is no authentication', async () => {
    await using both = await startApi({ app: { authenticate, anonymous: readers } });
    await using alone = await startApi({ app: { anonymous: readers } });
    for (const api of [both, alone]) {
      for (const path of ['/users', '/posts', '/posts?include=author', '/users?name=a&sort=name']) {
        expect((await api.get(path)).status, path).to.equal(200);
      }
      expectProblem(await api.get('/posts/none'), 404, 'post-not-found');
      expectProblem(await api.get('/users?nonsense'), 400, 'invalid-query');
    }
    for (const [method, path, body] of more) {
      const { headers } = await both.send(method, path, {}, body).then((answer) => {
        expectProblem(answer, 401, 'unauthenticated');
        return answer;
      });
      expect(headers.get('www-authenticate')).to.match(/^Bearer resource_metadata="[^"]+"$/);
      expectProblem(await alone.send(method, path, {}, body), 403, 'forbidden');
    }
  });

  it('is not anonymous if it has invalid credentials', async () => {
    await using api = await startApi({ app: { authenticate, anonymous: scopes } });
    for (const Authorization of ['', 'Bearer', 'Bearer x', 'Basic eyJ9', 'bearer x']) {
      expectProblem(await api.get('/posts', { Authorization }), 401, 'unauthenticated');
    }
    expectProblem(await api.get('/posts', as({ scopes: [] })), 403, 'forbidden');
    expectProblem(await api.get('/posts?access_token=x'), 400, 'invalid-query');
  });

  it('is one for which authenticate returns undefined, not a refusal', async () => {
    const found = new Map<unknown, undefined | { refused: string }>([['bad', { refused: 'key' }]]);
    await using api = await startApi({
      app: { anonymous: readers, authenticate: (ctx) => found.get(ctx.headers.cookie) },
    });
    expect((await api.get('/posts')).status).to.equal(200);
    expectProblem(await api.get('/posts', { Cookie: 'bad' }), 401, 'unauthenticated');
    expectProblem(await api.get('/posts', { Authorization: 'x' }), 401, 'unauthenticated');
  });

  it('can be cached by shared caches, unlike a request with credentials', async () => {
    await using both = await startApi({ app: { authenticate, anonymous: readers } });
    await using alone = await startApi({ app: { anonymous: readers } });
    const cachedAs = async (api: typeof both, headers = {}) =>
      (await api.get('/posts', headers)).headers.get('cache-control');
    expect(await cachedAs(both)).to.equal('no-cache');
    expect(await cachedAs(alone)).to.equal('no-cache');
    expect(await cachedAs(both, as({ scopes }))).to.equal('private, no-cache');
  });

  it('is distinguished by caches with Vary: Authorization', async () => {
    const store = createMemoryStore();
    const { id } = (await createRostrum(store).users.create({ name: 'Ann' })).record;
    await using api = await startApi({
      ...{ store, app: { authenticate, anonymous: readers, cors: ['http://a.example'] } },
    });
    const answers = [
      await api.get('/posts'),
      await api.get('/posts', as({ scopes })),
      await api.get(`/users/${id}`, { 'If-None-Match': '*' }),
      await api.get(`/users/${id}`, { 'If-Match': '"9"' }),
      await api.get('/users/none'),
      await api.get('/users?x'),
      await api.get('/users', { Authorization: 'x' }),
    ];
    for (const { status, headers } of answers) {
      expect(headers.get('vary'), `${status}`).to.equal('Origin, Authorization');
    }
    const statuses = answers.map(({ status }) => status);
    expect(statuses).to.deep.equal([200, 200, 304, 412, 404, 400, 401]);
    for (const app of [{ authenticate }, { anonymous: readers }]) {
      await using one = await startApi({ app });
      expect((await one.get('/posts', as({ scopes }))).headers.get('vary')).to.equal(null);
    }
  });

  it('counts towards the limit of its address only, and is logged as "anonymous"', async () => {
    const limiter = (points: number) => new RateLimiterMemory({ points, duration: 60 });
    for (const credentials of [{ authenticate }, {}]) {
      const { logger, lines } = keepLog();
      const rateLimits = { address: limiter(3), caller: limiter(1) };
      await using api = await startApi({
        app: { ...credentials, anonymous: ['posts:write'], rateLimits, logger },
      });
      for (let n = 0; n < 3; n++) {
        const { status, headers } = await api.post('/posts', { title: 'A' });
        expect(status).to.equal(201);
        expect(headers.get('ratelimit-policy')).to.equal('"address";q=3;w=60');
      }
      expectProblem(await api.get('/posts'), 429, 'too-many-requests');
      const named = lines.filter(({ caller }) => caller === 'anonymous');
      expect(named.map(({ message }) => message)).to.deep.equal([
        'change',
        'request',
        'change',
        'request',
        'change',
        'request',
      ]);
    }
  });
});

describe('/users/me', () => {
  const asMe = (subject: string | null = 'auth0|1', given: readonly Scope[] = scopes) =>
    as({ name: `${subject}`, subject, scopes: given });

  it('is the caller’s own user, only in this spelling', async () => {
    await using api = await startApi({ app: { authenticate } });
    await api.send('PUT', '/users/me', asMe(), { name: 'Ann' });
    for (const path of ['/users/me', '/users/%6De', '/users/auth0%7C1']) {
      const { body, headers } = await api.get(path, asMe());
      expect(body.name, path).to.equal('Ann');
      const isKept = path === '/users/auth0%7C1';
      expect(headers.get('cache-control')).to.equal(isKept ? 'private, no-cache' : 'no-store');
      expect((await api.send('HEAD', path, asMe())).headers.get('etag')).to.equal('"1"');
    }
    expectProblem(await api.get('/users/ME', asMe()), 404, 'user-not-found');
    expectProblem(await api.get('/users/me/', asMe()), 404, 'path-not-found');
    const answer = await api.post('/users/me', {}, asMe());
    expectProblem(answer, 405, 'method-not-allowed');
    const allow = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
    expect(answer.headers.get('allow')).to.equal(allow);
    // The allowed methods don't depend on whether the user exists.
    const options = await api.send('OPTIONS', '/users/me', asMe(null));
    expect([options.status, options.headers.get('allow')]).to.deep.equal([204, allow]);
  });

  it('is created by PUT with the subject as its id, and replaced by the next PUT', async () => {
    const { logger, lines } = keepLog();
    await using api = await startApi({ app: { authenticate, logger } });
    const put = (body: object, headers = {}) =>
      api.send('PUT', '/users/me', { ...asMe('auth0|1', ['users:write:own']), ...headers }, body);
    expectProblem(await api.get('/users/me', asMe()), 404, 'user-not-found');
    const missing = await put({ name: 'A' }, { 'If-Match': '*' });
    expectProblem(missing, 412, 'version-mismatch');
    expect(missing.headers.get('etag')).to.equal(null);
    const wrong = expectProblem(await put({ name: '', id: 'x' }), 422, 'invalid-record');
    expect(wrong.errors.map(({ pointer }) => pointer)).to.deep.equal(['/id', '/name']);
    const made = await put({ name: 'A', id: 'auth0|1' }, { 'If-None-Match': '*' });
    expect([made.status, tagOf(made), made.body.id]).to.deep.equal([201, '"1"', 'auth0|1']);
    expect(made.headers.get('location')).to.equal('/api/v1/users/auth0%7C1');
    const again = await put({ name: 'A' });
    expect([again.status, tagOf(again)]).to.deep.equal([200, '"1"']);
    expect(again.headers.get('location')).to.equal(null);
    for (const headers of [{ 'If-None-Match': '*' }, { 'If-Match': '"7"' }]) {
      const refused = await put({ name: 'B' }, headers);
      expectProblem(refused, 412, 'version-mismatch');
      expect(tagOf(refused)).to.equal('"1"');
    }
    const second = await put({ name: 'B' }, { 'If-Match': '"1"' });
    expect([second.status, tagOf(second)]).to.deep.equal([200, '"2"']);
    expect((await api.send('PATCH', '/users/me', asMe(), { name: 'C' })).body.name).to.equal('C');
    const changes = lines.filter(({ message }) => message === 'change');
    expect(changes.map(({ version, id }) => [version, id])).to.deep.equal(
      [1, 2, 3].map((version) => [version, 'auth0|1']),
    );
    const requests = lines.filter(({ message }) => message === 'request');
    expect(requests.map(({ endpoint }) => endpoint)).to.include.members([
      'getMe',
      'putMe',
      'patchMe',
    ]);
    expect((await api.send('DELETE', '/users/me', asMe())).body).to.deep.equal({ deleted: true });
    expectProblem(await put({ name: 'A' }, { 'If-Match': '*' }), 412, 'version-mismatch');
    const back = await put({ name: 'A' });
    expect([back.status, tagOf(back)]).to.deep.equal([201, '"4"']);
  });

  it('is created without a response body for Prefer: return=minimal', async () => {
    await using api = await startApi({ app: { authenticate, requireIfMatch: true } });
    const put = (name: string, headers = {}) => {
      const minimal = { ...asMe(), Prefer: 'return=minimal', ...headers };
      return api.send('PUT', '/users/me', minimal, { name });
    };
    const made = await put('A');
    expect([made.status, made.text, tagOf(made)]).to.deep.equal([201, '', '"1"']);
    // The user exists now, so If-Match is required.
    expectProblem(await put('B'), 428, 'precondition-required');
    expect((await put('B', { 'If-Match': '"1"' })).status).to.equal(204);
  });

  it('returns 403 to callers without a user, before their rate limit and the query are checked', async () => {
    const limit = new RateLimiterMemory({ points: 1, duration: 60 });
    const rateLimits = { caller: limit };
    await using api = await startApi({ app: { authenticate, rateLimits } });
    for (const subject of [null, 'me', 'a\n', 'x'.repeat(256)]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const body = method === 'PUT' || method === 'PATCH' ? {} : undefined;
        const answer = await api.send(method, '/users/me?nonsense', asMe(subject), body);
        expectProblem(answer, 403, 'forbidden');
        expect(answer.headers.get('www-authenticate')).to.equal(
          'Bearer error="insufficient_scope"',
        );
      }
    }
    expectProblem(await api.get('/users/me', {}), 401, 'unauthenticated');
    await using open = await startApi();
    for (const path of ['/users/me', '/posts?authorId=me']) {
      const answer = await open.get(path);
      expectProblem(answer, 403, 'forbidden');
      expect(answer.headers.get('www-authenticate')).to.equal(null);
    }
    expect((await open.send('OPTIONS', '/users/me')).status).to.equal(204);
  });

  it('in authorId=me means the current caller, even with another caller’s cursor', async () => {
    const store = createMemoryStore();
    const rostrum = createRostrum(store);
    for (const subject of ['ann', 'bob']) {
      const { users } = rostrum.as({ name: 'x', subject, scopes: new Set(scopes) });
      await users.saveOwn({ name: subject });
      for (const n of [1, 2]) {
        const draft = n === 1 ? { publishedAt: null } : {};
        await rostrum.posts.create({ title: `${subject} ${n}`, authorId: subject, ...draft });
      }
    }
    await using api = await startApi({ store, app: { authenticate } });
    const path = '/posts?authorId=me&sort=title&limit=1';
    const by = (subject: string | null) => as({ subject, scopes: ['posts:read'] });
    const pages = [];
    for (const subject of ['ann', 'bob', 'ann']) {
      const { body } = await api.get(path, by(subject));
      expect(body.posts.map(({ title }) => title)).to.deep.equal([`${subject} 1`]);
      pages.push(body.next);
    }
    expectProblem(await api.get(path, by(null)), 403, 'forbidden');
    // A cursor is only a position in a list. It gives no access to the list of the caller that received it.
    for (const [subject, next] of [
      ['bob', pages[0]],
      ['ann', pages[1]],
    ] as const) {
      const { body } = await api.get(`${path}&cursor=${next}`, by(subject));
      for (const post of body.posts) expect(post.authorId).to.equal(subject);
      expectProblem(
        await api.get(`/posts?authorId=${subject}&sort=title&cursor=${next}`, by(subject)),
        ...([400, 'invalid-cursor'] as const),
      );
    }
  });
});

describe('the public view of a user', () => {
  const publicly = as({ scopes: ['users:read:public'] });
  const wholly = as({ scopes });

  it('has its own ETags, which cannot be used for updates', async () => {
    await using api = await startApi({ app: { authenticate } });
    const { body } = await api.post('/users', { name: 'Ann', email: 'a@x.org' }, wholly);
    const path = `/users/${body.id}`;
    const shown = await api.get(path, publicly);
    const tag = `${tagOf(shown)}`;
    expect(tag).to.match(/^"1-[\w-]{8}"$/);
    expect(shown.body).to.deep.equal({ id: body.id, name: 'Ann', createdAt: body.createdAt });
    const statusOf = async (headers: object, method = 'GET', reader: object = publicly) => {
      const sent = method === 'PATCH' ? { name: 'Bea' } : undefined;
      const answer = await api.send(method, path, { ...reader, ...headers }, sent);
      return `${answer.status} ${tagOf(answer)}`;
    };
    for (const method of ['GET', 'HEAD']) {
      for (const known of [tag, `W/${tag}`, `"1", ${tag}`, '*']) {
        expect(await statusOf({ 'If-None-Match': known }, method)).to.equal(`304 ${tag}`);
      }
      expect(await statusOf({ 'If-None-Match': '"1"' }, method)).to.equal(`200 ${tag}`);
      expect(await statusOf({ 'If-Match': tag }, method)).to.equal(`200 ${tag}`);
      expect(await statusOf({ 'If-Match': '"1"' }, method)).to.equal(`412 ${tag}`);
      expect(await statusOf({ 'If-Match': tag }, method, wholly)).to.equal('412 "1"');
      expect(await statusOf({ 'If-None-Match': tag }, method, wholly)).to.equal('200 "1"');
    }
    for (const other of [tag, '"01"', '"1-"', '"1-whole"']) {
      expect(await statusOf({ 'If-Match': other }, 'PATCH', wholly)).to.equal('412 "1"');
    }
    const changed = await statusOf({ 'If-None-Match': tag }, 'PATCH', wholly);
    expect(changed).to.equal('200 "2"');
  });

  it('has another ETag once the public fields have changed', async () => {
    await using api = await startApi({ app: { authenticate } });
    const { store } = api;
    const { body } = await api.post('/users', { name: 'Ann', city: 'Turin' }, wholly);
    const path = `/users/${body.id}`;
    const tag = `${tagOf(await api.get(path, publicly))}`;
    const core = { publicUserFields: ['city'] };
    await using other = await startApi({ store, core, app: { authenticate } });
    const answer = await other.get(path, { ...publicly, 'If-None-Match': tag });
    expect([answer.status, answer.body.city]).to.deep.equal([200, 'Turin']);
  });

  it('is included once per author with include=author', async () => {
    const store = createMemoryStore();
    const { users, posts } = createRostrum(store, { publicUserFields: ['city'] });
    await using api = await startApi({
      ...{ store, core: { publicUserFields: ['city'] }, app: { authenticate } },
    });
    const ann = { name: 'Ann', email: 'ann@x.org', city: 'Bonn', secret: 1 };
    const { record } = await users.create(ann);
    const { id, createdAt } = record;
    for (const title of ['A', 'B', 'C']) {
      await posts.create({ title, authorId: title === 'B' ? null : id });
    }
    const reader = as({ scopes: ['posts:read'] });
    const { body, headers } = await api.get('/posts?include=author&sort=title&limit=2', reader);
    const shown = { id, name: 'Ann', city: 'Bonn', createdAt };
    expect(body.users).to.deep.equal([shown]);
    expect(body.posts.map(({ title }) => title)).to.deep.equal(['A', 'B']);
    expect(headers.get('link')).to.match(/[?&]include=author&/);
    const rest = await api.get(`/posts?include=author&sort=title&cursor=${body.next}`, reader);
    expect([rest.body.posts.length, rest.body.users]).to.deep.equal([1, [shown]]);
    const few = await api.get('/posts?include=author&fields=title&sort=title', as({ scopes }));
    expect(few.body.users).to.deep.equal([shown]);
    expect(Object.keys(few.body.posts[0] ?? {})).to.have.members(['id', 'title', 'authorId']);
    const free = await api.get('/posts?include=author&authorId=', reader);
    expect([free.body.posts.length, free.body.users]).to.deep.equal([1, []]);
    expect((await api.get('/posts', reader)).body.users).to.equal(undefined);
    for (const query of ['include=body', 'include=', 'include=author,author']) {
      expectProblem(await api.get(`/posts?${query}`, reader), 400, 'invalid-query');
    }
    expectProblem(await api.get('/users?include=author', wholly), 400, 'invalid-query');
  });

  it('shares cursors with full lists, but only for sorts by public fields', async () => {
    await using api = await startApi({ app: { authenticate } });
    for (const name of ['Ann', 'Bob']) await api.post('/users', { name }, wholly);
    const path = '/users?sort=name&limit=1';
    const { body } = await api.get(path, wholly);
    const next = await api.get(`${path}&cursor=${body.next}`, publicly);
    expect(next.body.users.map((user) => [user.name, user.email])).to.deep.equal([
      ['Bob', undefined],
    ]);
    const byEmail = await api.get('/users?sort=email&limit=1', wholly);
    const refused = await api.get(`/users?sort=email&cursor=${byEmail.body.next}`, publicly);
    expectProblem(refused, 403, 'forbidden');
    expect(refused.headers.get('www-authenticate')).to.match(/scope="users:read"$/);
  });
});

describe('GET /posts', () => {
  const reader = as({ scopes: ['posts:read'] });

  it('sorts by publication time for readers who cannot see drafts', async () => {
    await using api = await startApi({ app: { authenticate } });
    const all = as({ scopes });
    for (const [title, day] of [
      ['A', '03'],
      ['B', '01'],
      ['C', '02'],
    ] as const) {
      const publishedAt = `2026-01-${day}T00:00:00Z`;
      await api.post('/posts', { title, publishedAt }, all);
    }
    const titles = (answer: Answer) => answer.body.posts.map(({ title }) => title).join('');
    expect(titles(await api.get('/posts', reader))).to.equal('ACB');
    expect(titles(await api.get('/posts', all))).to.equal('CBA');
    expect(titles(await api.get('/posts?sort=publishedAt', all))).to.equal('BCA');
    // A cursor is bound to the sort order of its list.
    const { next } = (await api.get('/posts?limit=1', all)).body;
    expectProblem(await api.get(`/posts?limit=1&cursor=${next}`, reader), 400, 'invalid-cursor');
    const same = await api.get(`/posts?sort=-createdAt&limit=1&cursor=${next}`, reader);
    expect(titles(same)).to.equal('B');
  });
});
