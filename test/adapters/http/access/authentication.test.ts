import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { fetchHandler } from '../../../../src/adapters/http/fetch/handler.ts';
import {
  type Authenticate,
  bearerAuthentication,
  createApp,
} from '../../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { RostrumError, storeUnavailable } from '../../../../src/domain/errors.ts';
import {
  type Caller,
  type CallerInput,
  createRostrum,
  type Scope,
  scopes,
} from '../../../../src/index.ts';
import { until } from '../../../support/until.ts';
import type { Answer } from '../support/answer.ts';
import { expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { keepLog } from '../support/log.ts';
import { exchange, RawConnection } from '../support/raw.ts';

const everything = as({ scopes });

/** Creates promises of another realm, as libraries can return, which are not instances of our Promise. */
const ForeignPromise: PromiseConstructor = runInNewContext('Promise');

function challengeOf({ headers }: Answer): string | null {
  return headers.get('www-authenticate');
}

// precedence.test.ts tests which error is reported first.
describe('authentication', () => {
  it('calls the option authenticate, which can return a promise', async () => {
    const caller: Caller = { name: 'a', subject: null, scopes: new Set(['users:read']) };
    for (const says of [() => caller, async () => caller, () => ForeignPromise.resolve(caller)]) {
      await using api = await startApi({ app: { authenticate: says } });
      expect((await api.get('/users')).status).to.equal(200);
      expectProblem(await api.get('/posts'), 403, 'forbidden');
    }
  });

  it('accepts scopes in an array, and reads them for each request', async () => {
    const given: Scope[] = ['users:read'];
    const caller: CallerInput = { name: 'a', subject: null, scopes: given };
    await using api = await startApi({ app: { authenticate: () => caller } });
    expect((await api.get('/users')).status).to.equal(200);
    expectProblem(await api.get('/posts'), 403, 'forbidden');
    given.pop();
    expectProblem(await api.get('/users'), 403, 'forbidden');
  });

  it('gives authenticate the path and query, also for a target in absolute form', async () => {
    const seen: string[] = [];
    const caller: Caller = { name: 'a', subject: null, scopes: new Set(['users:read']) };
    const authenticate: Authenticate = ({ path, querystring }) => {
      seen.push(`${path} ${querystring}`);
      return caller;
    };
    await using api = await startApi({ app: { authenticate } });
    for (const front of ['', 'http://a', 'HTTP://b:9']) {
      const target = `${front}/api/v1/users?limit=1`;
      const answer = await exchange(api.server, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(answer?.status, target).to.equal(200);
    }
    expect(seen).to.deep.equal(new Array(3).fill('/api/v1/users limit=1'));
  });

  it('logs an aborted request, and no error, if the client disconnects during authenticate', async () => {
    const { logger, lines } = keepLog();
    const gate = Promise.withResolvers<Caller>();
    const asked = Promise.withResolvers<void>();
    const authenticate = () => {
      asked.resolve();
      return gate.promise;
    };
    await using api = await startApi({ app: { authenticate, logger } });
    const head = 'POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const { socket } = new RawConnection(api.server).send(
      `${head}Content-Length: 14\r\n\r\n{"name":"Ann"}`,
    );
    await asked.promise;
    socket.resetAndDestroy();
    await until(() => api.server.connections === 0, 'the connection is closed');
    gate.resolve({ name: 'a', subject: null, scopes: new Set(['users:write']) });
    await until(() => lines.length > 0, 'the request is logged');
    expect(lines.map(({ level, aborted }) => [level, aborted])).to.deep.equal([['info', true]]);
  });

  it('returns 500 if authenticate returns something that is not a caller', async () => {
    // test/domain/access.test.ts tests what counts as a caller.
    const wrong: unknown[] = [null, true, {}, { name: 'a', subject: null, scopes: ['admin'] }];
    for (const value of wrong) {
      const { logger, lines } = keepLog();
      const authenticate = (() => value) as unknown as Authenticate;
      await using api = await startApi({ app: { authenticate, logger } });
      expectProblem(await api.get('/users'), 500, 'internal');
      expect(
        lines.some(({ level, err }) => level === 'error' && err instanceof TypeError),
      ).to.equal(true);
    }
  });

  it('returns 503 if credentials cannot be checked, and 500 for any other error', async () => {
    const failures: readonly ((error: Error) => Authenticate)[] = [
      (error) => async () => {
        throw error;
      },
      (error) => () => ForeignPromise.reject(error),
    ];
    const unavailable = Object.assign(new Error('no keys'), { code: 'credentials-unavailable' });
    for (const [error, status, code] of [
      [unavailable, 503, 'credentials-unavailable'],
      [new Error('broken'), 500, 'internal'],
      // As an HTTP client throws it.
      [Object.assign(new Error('broken'), { status: 404 }), 500, 'internal'],
      // As the core throws it for a record that the function reads.
      [new RostrumError('user-not-found', { id: 'gone' }), 500, 'internal'],
      [storeUnavailable('none'), 503, 'store-unavailable'],
    ] as const) {
      for (const failing of failures) {
        const { logger } = keepLog();
        await using api = await startApi({ app: { authenticate: failing(error), logger } });
        const answer = await api.get('/users');
        expectProblem(answer, status, code);
        expect(answer.text).not.to.match(/no keys|broken|No user/);
        const retryAfter = answer.headers.get('retry-after');
        expect(retryAfter).to.match(status === 503 ? /^[1-5]$/ : /^null$/);
      }
    }
  });

  it('sends WWW-Authenticate, with invalid_token only if a bearer token was sent', async () => {
    await using api = await startApi({ app: { authenticate } });
    const described = `resource_metadata="${api.server.url}/.well-known/oauth-protected-resource/api/v1"`;
    expect(challengeOf(await api.get('/users'))).to.equal(`Bearer ${described}`);
    const refused = await api.get('/users', { Authorization: 'Bearer x' });
    expect(challengeOf(refused)).to.equal(`Bearer ${described}, error="invalid_token"`);
    for (const Authorization of ['Basic Zm9vOmJhcg==', 'Bearer-X abc', 'x']) {
      expect(challengeOf(await api.get('/users', { Authorization }))).to.equal(
        `Bearer ${described}`,
      );
    }
    expect(challengeOf(await api.get('/users', everything))).to.equal(null);
  });

  it('names the metadata of MCP at /mcp', async () => {
    const mcp = async () => new Response('{}');
    await using api = await startApi({ app: { authenticate, mcp } });
    const described = `${api.server.url}/.well-known/oauth-protected-resource/mcp`;
    const answer = await api.send('POST', `${api.server.url}/mcp`);
    expectProblem(answer, 401, 'unauthenticated');
    expect(challengeOf(answer)).to.equal(`Bearer resource_metadata="${described}"`);
  });

  it('serves the metadata of RFC 9728 if credentials are required', async () => {
    const publicUrl = 'https://example.com/backend/';
    const issuer = 'https://id.example.com';
    await using api = await startApi({ app: { authenticate, issuer, publicUrl } });
    const path = `${api.server.url}/.well-known/oauth-protected-resource/api/v1`;
    expect((await api.get(path)).body).to.deep.equal({
      resource: 'https://example.com/backend/api/v1',
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    });
    await using open = await startApi();
    const none = `${open.server.url}/.well-known/oauth-protected-resource/api/v1`;
    expectProblem(await open.get(none), 404, 'path-not-found');
  });

  it('has the protocol of the connection in its URLs', async () => {
    const options = { authenticate, ready: async () => {} };
    const handle = fetchHandler(createApp(createRostrum(createMemoryStore()), options));
    const headers = { 'X-Forwarded-Proto': 'https' }; // Not trusted.
    for (const origin of ['http://forum.example', 'https://forum.example']) {
      const url = `${origin}/.well-known/oauth-protected-resource/api/v1`;
      const response = await handle(new Request(url, { headers }));
      expect(await response.json()).to.include({ resource: `${origin}/api/v1` });
    }
  });

  it('rejects tokens in the query, and a second Authorization header', async () => {
    await using api = await startApi({ app: { authenticate } });
    const token = everything.Authorization.slice(7);
    const without = await api.get(`/users?access_token=${token}`);
    expectProblem(without, 401, 'unauthenticated');
    const both = await api.get(`/users?access_token=${token}`, everything);
    expectProblem(both, 400, 'invalid-query');
    for (const { text } of [without, both]) expect(text).not.to.include(token);
    const line = `Authorization: Bearer ${token}\r\n`;
    const twice = `GET /api/v1/users HTTP/1.1\r\nHost: x\r\n${line}${line.toLowerCase()}\r\n`;
    const bearer = bearerAuthentication([]);
    await using wrapped = await startApi({ app: { authenticate: async (ctx) => bearer(ctx) } });
    for (const { server } of [api, wrapped]) {
      const answer = await exchange(server, twice);
      expect([answer?.status, answer?.body.code]).to.deep.equal([400, 'invalid-header']);
    }
  });

  it('serves probes and problem pages without credentials', async () => {
    await using api = await startApi({ app: { authenticate } });
    for (const path of ['/livez', '/readyz', '/problems/internal']) {
      expect((await api.get(api.server.url + path)).status, path).to.equal(200);
    }
  });
});
