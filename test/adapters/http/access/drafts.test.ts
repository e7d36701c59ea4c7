// Leaks of drafts known from other servers, and scheduled posts, on every store.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../../../src/adapters/sqlite/index.ts';
import { type Scope, type Store, scopes } from '../../../../src/index.ts';
import { describeOnStores } from '../../../support/stores.ts';
import type { Body } from '../support/answer.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';

const editor = as({ scopes });
const anonymous: readonly Scope[] = ['posts:read', 'users:read:public'];
/** Callers who must not see other people's drafts. */
const readers = [{}, as({ scopes: ['posts:read'] }), as({ subject: 'x', scopes: ['posts:read'] })];

const moment = '2030-01-01T00:00:00.000Z';
const before = '2029-12-31T23:59:59.999Z';

function apiOn(store: Store, clock?: { now(): string }): Promise<Api> {
  return startApi({ store, core: { clock }, app: { authenticate, anonymous } });
}

async function made(api: Api, path: string, body: object): Promise<Body> {
  const answer = await api.post(path, body, editor);
  expect(answer.status, answer.text).to.equal(201);
  return answer.body;
}

/** Expects that only editors can find the post. */
async function expectHidden(api: Api, { id }: Body, total = 0): Promise<void> {
  for (const reader of readers) {
    for (const headers of [{}, { 'If-None-Match': '*' }, { 'If-Match': '"9"' }]) {
      const answer = await api.get(`/posts/${id}`, { ...reader, ...headers });
      expectProblem(answer, 404, 'post-not-found');
      expect(answer.headers.get('etag')).to.equal(null);
    }
    for (const query of ['', `&id=${id}`, '&sort=title', '&include=author', '&publishedAt=null']) {
      const { body } = await api.get(`/posts?count=exact${query}`, reader);
      expect(body.posts.map((post) => post.id)).not.to.include(id);
      if (query === '') expect(body.total).to.equal(total);
    }
  }
  expect((await api.get(`/posts/${id}`, editor)).status).to.equal(200);
}

await describeOnStores('a draft', (open) => {
  let api: Api;
  beforeEach(async function start() {
    this.timeout(60_000);
    api = await apiOn(await open());
  });
  afterEach(() => api[Symbol.asyncDispose]());

  it('is not listed for readers, even if they request drafts', async () => {
    const draft = await made(api, '/posts', { title: 'A', publishedAt: null });
    for (const reader of readers) {
      for (const query of ['status=draft', 'state=draft', 'publicationState=preview']) {
        expectProblem(await api.get(`/posts?${query}`, reader), 400, 'invalid-query');
      }
      const { body } = await api.get('/posts?publishedAt=null&count=exact', reader);
      expect([body.posts, body.total]).to.deep.equal([[], 0]);
    }
    await expectHidden(api, draft);
  });

  it('is hidden from readers even if it was public before', async () => {
    const post = await made(api, '/posts', { title: 'A' });
    const path = `/posts/${post.id}`;
    for (const reader of readers) expect((await api.get(path, reader)).status).to.equal(200);
    await api.send('PATCH', path, editor, { publishedAt: null });
    await expectHidden(api, post);
  });

  it('is not found through its author', async () => {
    const author = await made(api, '/users', { name: 'Ann' });
    const draft = await made(api, '/posts', { title: 'A', authorId: author.id, publishedAt: null });
    for (const reader of readers) {
      const path = `/posts?authorId=${author.id}&include=author&count=exact`;
      const { body } = await api.get(path, reader);
      expect([body.posts, body.total, body.users]).to.deep.equal([[], 0, []]);
    }
    const writer = as({ scopes: ['users:write', 'posts:read'] });
    const refused = await api.send('DELETE', `/users/${author.id}`, writer);
    expect(expectProblem(refused, 409, 'user-has-posts').posts).to.equal(undefined);
    await expectHidden(api, draft);
  });

  it('is created with publishedAt: null, also by a replay', async () => {
    const headers = { ...editor, 'Idempotency-Key': 'once' };
    for (const replayed of [null, 'true']) {
      const answer = await api.post('/posts', { title: 'A', publishedAt: null }, headers);
      expect(answer.headers.get('idempotency-replayed')).to.equal(replayed);
      expect(answer.body.publishedAt).to.equal(null);
      await expectHidden(api, answer.body);
    }
  });

  it('is not published by changes to other fields', async () => {
    const draft = await made(api, '/posts', { title: 'A', publishedAt: null });
    const path = `/posts/${draft.id}`;
    const changes = [
      ['PATCH', { title: 'B' }],
      ['PUT', { title: 'C' }],
      ['PUT', { ...draft, title: 'D' }],
      ['PATCH', { publishedAt: null }],
    ] as const;
    for (const [method, body] of changes) {
      const answer = await api.send(method, path, editor, body);
      expect([answer.status, answer.body.publishedAt]).to.deep.equal([200, null]);
      await expectHidden(api, draft);
    }
    await api.send('PATCH', path, editor, { publishedAt: moment.replace('2030', '2020') });
    expect((await api.get(path)).status).to.equal(200);
  });

  it('returns the same 404 as an unknown id to writers who cannot see it', async () => {
    const draft = await made(api, '/posts', { title: 'A', publishedAt: null });
    const writer = as({ subject: 'x', scopes: ['posts:read', 'posts:write:own'] });
    for (const headers of [{}, { 'If-Match': '"1"' }, { 'If-Match': '"9"' }]) {
      for (const [method, body] of [['PUT', { title: '' }], ['PATCH', {}], ['DELETE']] as const) {
        const [there, not] = await Promise.all(
          [draft.id, 'none'].map((id) => {
            const sent = { ...writer, ...headers, 'X-Request-Id': 'one' };
            return api.send(method, `/posts/${id}`, sent, body);
          }),
        );
        expect([there?.status, there?.text]).to.deep.equal([404, not?.text]);
        expect(there?.headers.get('etag')).to.equal(null);
      }
    }
  });
});

/** Expects a scheduled post to be hidden before its time and visible from then on, without a write. */
async function appearsIn(api: Api, clock: { now: () => string }, post: Body): Promise<void> {
  clock.now = () => before;
  await expectHidden(api, post, 1);
  clock.now = () => moment;
  for (const reader of readers) {
    const one = await api.get(`/posts/${post.id}`, reader);
    expect([one.status, one.headers.get('etag')]).to.deep.equal([200, '"1"']);
    expect(one.body).to.deep.equal(post);
    const { body } = await api.get('/posts?count=exact&include=author', reader);
    expect(body.total).to.equal(2);
    expect(body.posts[0]).to.deep.equal(post);
    expect(body.users.map(({ id }) => id)).to.deep.equal([post.authorId]);
    const bound = `publishedAt[gte]=${moment}`;
    expect((await api.get(`/posts?${bound}`, reader)).body.posts).to.deep.equal([post]);
  }
}

async function schedule(api: Api): Promise<Body> {
  await made(api, '/posts', { title: 'Public' });
  const { id } = await made(api, '/users', { name: 'Ann' });
  return made(api, '/posts', { title: 'Scheduled', authorId: id, publishedAt: moment });
}

await describeOnStores('a scheduled post', (open) => {
  it('appears in lists, by id and in counts when its time comes, without a write', async function () {
    this.timeout(60_000);
    const clock = { now: () => before };
    await using api = await apiOn(await open(), clock);
    await appearsIn(api, clock, await schedule(api));
  });
});

describe('a scheduled post, after a restart', () => {
  it('appears when its time comes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-scheduled-'));
    const path = join(folder, 'rostrum.db');
    const clock = { now: () => before };
    let post: Body;
    {
      await using api = await apiOn(openSqliteStore({ path }), clock);
      post = await schedule(api);
    }
    {
      await using api = await apiOn(openSqliteStore({ path }), clock);
      await appearsIn(api, clock, post);
    }
    rmSync(folder, { recursive: true });
  });
});
