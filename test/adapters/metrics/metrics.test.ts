import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { endpointsFor } from '../../../src/adapters/http/endpoints/index.ts';
import { problemCatalogue } from '../../../src/adapters/http/problems/catalogue.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { Metrics } from '../../../src/adapters/metrics/index.ts';
import { until } from '../../support/until.ts';
import { type Api, startApi } from '../http/support/api.ts';
import { as, authenticate } from '../http/support/callers.ts';
import { exchange, RawConnection } from '../http/support/raw.ts';
import { slowStore } from '../http/support/slow-store.ts';
import { namesOf, type Sample, samplesOf } from './support.ts';

const endpoints = endpointsFor({});

/** Returns the values of a metric, keyed by its label values joined with spaces. */
async function valuesOf(metrics: Metrics, wanted: string): Promise<Record<string, number>> {
  const { body } = await metrics.exposition();
  const samples = samplesOf(body).filter(({ name }) => name === wanted);
  const entry = ({ labels, value }: Sample) => [Object.values(labels).join(' '), value];
  return Object.fromEntries(samples.map(entry));
}

async function start(metrics: Metrics, store = createMemoryStore()): Promise<Api> {
  const app = { metrics, authenticate };
  const api = await startApi({ store: metrics.measured(store), app, serve: { metrics } });
  metrics.connections(() => api.server.connections);
  return api;
}

describe('metrics', () => {
  const ada = as({ name: 'ada', scopes: ['users:read', 'users:write'] });

  it('count requests by endpoint and status, problems by code, and store calls by outcome', async () => {
    const metrics = new Metrics();
    await using api = await start(metrics);
    const { body: user } = await api.post('/users', { name: 'Ada' }, ada);
    await api.get(`/users/${user.id}`, ada);
    await api.get('/users/none', ada);
    await api.get('/posts', ada);
    await api.get('/users');
    await api.send('PATCH', `/users/${user.id}`, { ...ada, 'If-Match': '"9"' }, { name: 'x' });
    await api.send('DELETE', `/users/${user.id}`, ada);
    await api.get(`${api.server.url}/livez`);
    await exchange(api.server, 'nonsense\r\n\r\n');
    expect(await valuesOf(metrics, 'rostrum_http_request_duration_seconds_count')).to.deep.equal({
      ...{ 'createUser 201': 1, 'getUser 200': 1, 'getUser 404': 1, 'listPosts 403': 1 },
      ...{ 'listUsers 401': 1, 'patchUser 412': 1, 'deleteUser 200': 1, '/livez 200': 1 },
    });
    expect(await valuesOf(metrics, 'rostrum_http_problems_total')).to.deep.equal({
      ...{ 'user-not-found': 1, forbidden: 1, unauthenticated: 1, 'version-mismatch': 1 },
      'bad-request': 1,
    });
    expect(await valuesOf(metrics, 'rostrum_store_operation_duration_seconds_count')).to.deep.equal(
      {
        ...{ 'users create ok': 1, 'users get ok': 2, 'users delete ok': 1 },
        'users update version-mismatch': 1,
      },
    );
    const [seconds = 0] = Object.values(
      await valuesOf(metrics, 'rostrum_http_request_duration_seconds_sum'),
    );
    expect(seconds).to.be.above(0).and.below(10);
  });

  it('count requests in progress, and requests aborted by the client', async () => {
    const metrics = new Metrics();
    const { store, begun, release } = slowStore();
    await using api = await start(metrics, store);
    const value = async (name: string) => (await valuesOf(metrics, name))[''];
    const connection = new RawConnection(api.server);
    const { Authorization } = ada;
    connection.send(
      `GET /api/v1/users/x HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\n\r\n`,
    );
    await begun();
    expect(await value('rostrum_http_requests_in_flight')).to.equal(1);
    expect(await value('rostrum_http_connections')).to.equal(1);
    expect(await value('rostrum_http_limiter_running')).to.equal(1);
    connection.socket.resetAndDestroy();
    await until(
      async () => (await value('rostrum_http_requests_in_flight')) === 0,
      'the request has ended',
    );
    release();
    expect(await value('rostrum_http_connections')).to.equal(0);
    expect(await valuesOf(metrics, 'rostrum_http_request_duration_seconds_count')).to.deep.equal({
      'getUser aborted': 1,
    });
  });

  it('have no labels that a client can invent', async () => {
    const metrics = new Metrics();
    await using api = await start(metrics);
    const odd = 'made-up-8c1f';
    const headers = { ...ada, 'User-Agent': odd, 'X-Request-Id': odd, 'X-Forwarded-For': odd };
    for (const path of [`/${odd}`, `/users/${odd}`, `/posts/${odd}/x`, `/users?${odd}=1`, '/%zz']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND', 'SEARCH']) {
        await api.send(method, path, headers);
        await api.send(method, `${api.server.url}/problems/${odd}`, headers);
      }
    }
    await exchange(api.server, `GET http://${odd}/${odd} HTTP/1.1\r\nHost: ${odd}\r\n\r\n`);
    await exchange(api.server, `${odd} / HTTP/1.1\r\nHost: ${odd}\r\n\r\n`);
    const { body } = await metrics.exposition();
    expect(body).not.to.include(odd);
    const pages = ['/', '/livez', '/readyz', '/openapi.json', '/docs', '/problems', 'none'];
    const known = new Set([...endpoints.map(({ operation }) => operation), ...pages]);
    const own = samplesOf(body).filter(({ name }) => name.startsWith('rostrum_'));
    expect(own.length).to.be.above(50);
    for (const { labels } of own) {
      const { endpoint = 'none', status = '200', code = 'internal' } = labels;
      expect(known.has(endpoint), endpoint).to.equal(true);
      expect(status).to.match(/^([1-5]\d\d|aborted)$/);
      expect(problemCatalogue).to.have.property(code);
    }
  });

  it('are all documented in docs/operations.md', async () => {
    const metrics = new Metrics();
    await using _api = await start(metrics);
    const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const section = /\n## Metrics\n(.*?)\n## /s.exec(page)?.[1] ?? '';
    const named = [...section.matchAll(/`(rostrum_\w+)/g)].map(([, name]) => name);
    const { body } = await metrics.exposition();
    const own = [...namesOf(body)].filter((name) => name.startsWith('rostrum_'));
    expect([...new Set(named)].sort()).to.deep.equal(own.sort());
  });
});
