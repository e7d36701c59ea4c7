import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { Metrics } from '../../../src/adapters/metrics/index.ts';
import type { Scope } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import type { Answer } from './support/answer.ts';
import { type Api, expectProblem, startApi } from './support/api.ts';
import { as, authenticate } from './support/callers.ts';

const nextOf = ({ body }: Answer) => String(body.next);

async function endOf(api: Api): Promise<string> {
  return nextOf(await api.get('/events'));
}

describe('GET /events', () => {
  it('returns the changes after a position, and the next position', async () => {
    await using api = await startApi();
    const after = await endOf(api);
    const user = await api.make('/users', { name: 'Ada' });
    const post = await api.make('/posts', { title: 'x', authorId: user.id });
    await api.send('PATCH', `/posts/${post.id}`, {}, { title: 'y' });
    await api.send('DELETE', `/users/${user.id}?posts=keep`);
    const all = await api.get(`/events?after=${after}`);
    expect(all.headers.get('cache-control')).to.equal('no-store');
    expect(all.body.events).to.deep.equal([
      { type: 'user.created', id: user.id, version: 1 },
      { type: 'post.created', id: post.id, version: 1 },
      { type: 'post.updated', id: post.id, version: 2 },
      { type: 'post.updated', id: post.id, version: 3 },
      { type: 'user.deleted', id: user.id, version: 1 },
    ]);
    const page = await api.get(`/events?after=${after}&limit=2`);
    expect(page.body.events).to.have.length(2);
    const rest = await api.get(`/events?after=${nextOf(page)}`);
    expect(rest.body.events).to.have.length(3);
    expect(await endOf(api)).to.equal(nextOf(rest));
    const head = await api.send('HEAD', `/events?after=${nextOf(rest)}&wait=25`);
    expect([head.status, head.text]).to.deep.equal([200, '']);
  });

  it('waits for an event, for at most the requested time', async () => {
    await using api = await startApi();
    const after = await endOf(api);
    const waiting = api.get(`/events?after=${after}&wait=20`);
    await sleep(100);
    const { id } = await api.make('/users', { name: 'Ada' });
    const { body, status } = await waiting;
    expect([status, body.events]).to.eql([200, [{ type: 'user.created', id, version: 1 }]]);
    const none = await api.get(`/events?after=${nextOf(await waiting)}&wait=1`);
    expect([none.status, none.body.events]).to.deep.equal([200, []]);
  });

  it('rejects invalid parameters, unknown positions and stores without events', async () => {
    await using api = await startApi();
    for (const query of [
      'wait=26',
      'wait=-1',
      'limit=0',
      'limit=1001',
      'from=x',
      'after=a&after=b',
    ]) {
      expectProblem(await api.get(`/events?${query}`), 400, 'invalid-query');
    }
    for (const after of ['x', 'a'.repeat(10_000), `${'9'.repeat(400)}.1`]) {
      expectProblem(await api.get(`/events?after=${after}`), 410, 'events-expired');
    }
    expectProblem(await api.get('/events?after=&wait=20'), 410, 'events-expired');
    const { events: _, ...store } = createMemoryStore();
    await using without = await startApi({ store });
    expectProblem(await without.get('/events'), 501, 'events-unavailable');
    expectProblem(await api.send('POST', '/events', {}, {}), 405, 'method-not-allowed');
  });

  it('returns events only for the collections that the caller can read in full', async () => {
    await using api = await startApi({ app: { authenticate } });
    const all = as({ scopes: ['users:read', 'users:write', 'posts:read:all', 'posts:write'] });
    const after = nextOf(await api.get('/events', all));
    await api.post('/users', { name: 'Ada' }, all);
    await api.post('/posts', { title: 'x', publishedAt: null }, all);
    const typesFor = async (...scopes: readonly Scope[]) => {
      const { body } = await api.get(`/events?after=${after}`, as({ scopes }));
      return (body.events as unknown as { type: string }[]).map(({ type }) => type);
    };
    expect(await typesFor('users:read', 'posts:read')).to.deep.equal(['user.created']);
    expect(await typesFor('posts:read:all')).to.deep.equal(['post.created']);
    for (const scope of ['users:read:public', 'posts:read', 'posts:write:own'] as const) {
      expectProblem(await api.get('/events', as({ scopes: [scope] })), 403, 'forbidden');
    }
    expectProblem(await api.get('/events'), 401, 'unauthenticated');
  });

  /** Headers for client number n behind a proxy. */
  const from = (n: number) => ({ 'X-Forwarded-For': `10.0.${Math.floor(n / 100)}.1` });

  it('lets a thousand requests wait without occupying the limiter', async function () {
    this.timeout(60_000);
    const metrics = new Metrics();
    await using api = await startApi({ app: { metrics, trustedProxies: 1 } });
    const after = await endOf(api);
    const path = `/events?after=${after}&wait=25`;
    const all = Array.from({ length: 1000 }, (_, n) => api.get(path, from(n)));
    while (api.server.connections < 1000) await sleep(20);
    await sleep(500);
    expect((await api.get('/users')).status).to.equal(200);
    expect((await metrics.exposition()).body).to.match(/^rostrum_http_limiter_running 0$/m);
    expectProblem(await api.get(path, from(1000)), 503, 'overloaded');
    const { id } = await api.make('/users', { name: 'Ada' });
    const told = new Set((await Promise.all(all)).map(({ text }) => text));
    expect([...told]).to.have.length(1);
    expect([...told].join()).to.contain(id);
  });

  it('stops waiting when the client disconnects, which frees its slot', async function () {
    this.timeout(60_000);
    await using api = await startApi();
    const after = await endOf(api);
    const gone = new AbortController();
    const url = `${api.server.url}/api/v1/events?after=${after}&wait=25`;
    const wait = () => fetch(url, { signal: gone.signal }).catch(() => 'gone');
    const all = Array.from({ length: 100 }, wait);
    while (api.server.connections < 100) await sleep(20);
    await sleep(500);
    expectProblem(await api.get(`/events?after=${after}&wait=1`), 429, 'too-many-requests');
    gone.abort();
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set(['gone']));
    const isFree = async () => (await api.get(`/events?after=${after}&wait=1`)).status === 200;
    await until(isFree, 'the places are free');
  });

  it('lets 100 requests of a caller wait, and 100 of an address without credentials; 429 for more', async function () {
    this.timeout(60_000);
    const limiter = () => new RateLimiterMemory({ points: 9999, duration: 60 });
    const rateLimits = { address: limiter(), caller: limiter() };
    const app = { authenticate, anonymous: ['users:read'], trustedProxies: 1, rateLimits } as const;
    await using api = await startApi({ app });
    const after = await endOf(api);
    const wait = (headers: Record<string, string>, seconds = 15) =>
      api.get(`/events?after=${after}&wait=${seconds}`, headers);
    const ada = as({ name: 'ada', scopes: ['users:read'] });
    /** Returns the first response that is not 200. Until then, the server has not received all the others. */
    const refusal = async (headers: Record<string, string>) => {
      let answer = await wait(headers, 1);
      while (answer.status === 200) answer = await wait(headers, 1);
      expectProblem(answer, 429, 'too-many-requests');
      return answer;
    };
    const held = Array.from({ length: 100 }, (_, n) => wait({ ...ada, ...from(n * 100) }));
    const refused = await refusal({ ...ada, ...from(99_900) });
    expect(refused.headers.get('retry-after')).to.match(/^[1-5]$/);
    expect((await wait({ ...ada, ...from(0) }, 0)).status, 'without a wait').to.equal(200);
    // An IPv6 /64 network counts as one client.
    const network = (n: number) => ({ 'X-Forwarded-For': `2001:db8::${n.toString(16)}` });
    held.push(...Array.from({ length: 100 }, (_, n) => wait(network(n + 1))));
    await refusal(network(999));
    held.push(wait({ ...as({ name: 'bob', scopes: ['users:read'] }), ...network(999) }));
    for (const { status } of await Promise.all(held)) expect(status).to.equal(200);
    expect((await wait(network(999), 1)).status).to.equal(200);
  });

  it('responds at once when the server stops', async () => {
    const api = await startApi();
    const after = await endOf(api);
    const waiting = api.get(`/events?after=${after}&wait=25`);
    await sleep(300);
    const closed = api.server.close();
    const { status, body } = await waiting;
    expect([status, body]).to.deep.equal([200, { events: [], next: after }]);
    await closed;
    await api.store.close();
  });
});
