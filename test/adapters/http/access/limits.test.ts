import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { addKey, KeyFile } from '../../../../src/adapters/credentials/index.ts';
import { type Authenticate, bearerAuthentication } from '../../../../src/adapters/http/index.ts';
import { scopes } from '../../../../src/index.ts';
import type { Answer } from '../support/answer.ts';
import { expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { keepLog } from '../support/log.ts';

const limiter = (points: number, duration = 60) => new RateLimiterMemory({ points, duration });

function limitsOf({ headers }: Answer) {
  return ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name));
}

describe('rate limits', () => {
  it('count the address before authentication and the caller after it, and report both', async () => {
    const rateLimits = { address: limiter(4), caller: limiter(2) };
    await using api = await startApi({ app: { authenticate, rateLimits } });
    const policies = '"address";q=4;w=60, "caller";q=2;w=60';
    const headers = as({ name: 'a', scopes });
    for (const [byAddress, byCaller] of [
      [3, 1],
      [2, 0],
    ]) {
      expect(limitsOf(await api.get('/users', headers))).to.deep.equal([
        policies,
        `"address";r=${byAddress};t=60, "caller";r=${byCaller};t=60`,
        null,
      ]);
    }
    const tooMany = await api.get('/users?x=1', headers);
    expectProblem(tooMany, 429, 'too-many-requests');
    expect(limitsOf(tooMany)).to.deep.equal([
      policies,
      '"address";r=1;t=60, "caller";r=0;t=60',
      '60',
    ]);
    expect((await api.get('/users', as({ name: 'b', scopes }))).status).to.equal(200);
    const all = await api.get('/users');
    expectProblem(all, 429, 'too-many-requests');
    expect(limitsOf(all)).to.deep.equal(['"address";q=4;w=60', '"address";r=0;t=60', '60']);
    expect((await api.get(`${api.server.url}/livez`)).status, 'probes').to.equal(200);
  });

  it('reset with the next window', async () => {
    await using api = await startApi({
      app: { rateLimits: { address: limiter(1, 1) } },
    });
    expect((await api.get('/users')).status).to.equal(200);
    expect((await api.get('/users')).status).to.equal(429);
    await sleep(1100);
    expect((await api.get('/users')).status).to.equal(200);
  });

  it('cannot be evaded with another method, spelling or header', async () => {
    const { origin } = new URL('http://a.b');
    const rateLimits = { address: limiter(1) };
    await using api = await startApi({ app: { rateLimits, cors: [origin] } });
    await api.get('/users');
    const ways: [string, string, Record<string, string>?][] = [
      ['GET', '/users?limit=1'],
      ['GET', '/%75sers'],
      ['HEAD', '/users'],
      ['GET', '/posts/x', { 'X-Forwarded-For': '1.2.3.4', Forwarded: 'for=1.2.3.4' }],
      ['GET', '/users', { 'X-Real-IP': '1.2.3.4', 'CF-Connecting-IP': '1.2.3.4' }],
      ['GET', '/users', { 'X-Forwarded-Host': 'x', 'True-Client-IP': '1.2.3.4' }],
    ];
    for (const [method, path, headers] of ways) {
      expect((await api.send(method, path, headers)).status, `${method} ${path}`).to.equal(429);
    }
    for (const path of ['/USERS', '/users/', '//users', '/users/./']) {
      expect((await api.get(path)).status, path).to.be.oneOf([404, 429]);
    }
  });

  it('do not count preflights, so a script can read the 429', async () => {
    const { origin } = new URL('http://a.b');
    const rateLimits = { address: limiter(1) };
    await using api = await startApi({ app: { rateLimits, cors: [origin] } });
    const asks = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) {
      const preflight = await api.send('OPTIONS', '/users', asks);
      expect(limitsOf(preflight)).to.deep.equal([null, null, null]);
      const answer = await api.get('/users', { Origin: origin });
      expect(answer.headers.get('access-control-allow-origin')).to.equal(origin);
      statuses.push(preflight.status, answer.status);
    }
    expect(statuses).to.deep.equal([204, 200, 204, 429, 204, 429]);
  });

  it('count each client behind a trusted proxy separately', async () => {
    const rateLimits = { address: limiter(1) };
    await using api = await startApi({ app: { rateLimits, trustedProxies: ['127.0.0.1'] } });
    const from = async (address: string) =>
      (await api.get('/users', { 'X-Forwarded-For': `9.9.9.9, ${address}` })).status;
    expect(await from('192.0.2.1')).to.equal(200);
    expect(await from('192.0.2.2')).to.equal(200);
    expect(await from('192.0.2.1')).to.equal(429);
  });

  it('for rejected tokens return 429 without verifying, but only if a token is sent', async () => {
    let asked = 0;
    const rateLimits = { failures: limiter(3) };
    const counting: typeof authenticate = (ctx) => {
      asked += 1;
      return authenticate(ctx);
    };
    await using api = await startApi({ app: { authenticate: counting, rateLimits } });
    const wrong = { Authorization: 'Bearer x' };
    for (let n = 0; n < 3; n++)
      expectProblem(await api.get('/users', wrong), 401, 'unauthenticated');
    const known = asked;
    for (const headers of [wrong, as({ scopes })]) {
      const answer = await api.get('/users', headers);
      expectProblem(answer, 429, 'too-many-requests');
      const [policy, left, retryAfter] = limitsOf(answer);
      expect(policy).to.equal('"failures";q=3;w=60');
      expect(left).to.equal(`"failures";r=0;t=${retryAfter}`);
      expect(retryAfter).to.match(/^(60|59)$/);
    }
    expect(asked).to.equal(known);
    expectProblem(await api.get('/users'), 401, 'unauthenticated');
  });

  it('for rejected tokens still accept tokens that are already known, and log one warning', async () => {
    const good = { name: 'key:1', subject: null, scopes: new Set(scopes) };
    const known = (token: string) => (token === 'good' ? good : undefined);
    const verify = bearerAuthentication([
      { known, authenticate: async (token) => known(token) ?? { refused: 'kid' } },
    ]);
    const { logger, lines } = keepLog();
    const rateLimits = { failures: limiter(3) };
    await using api = await startApi({ app: { authenticate: verify, rateLimits, logger } });
    const statuses = async (token: string, count: number) => {
      const headers = { Authorization: `Bearer ${token}` };
      const answers = Array.from({ length: count }, () => api.get('/users', headers));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    await statuses('bad', 3);
    expect(await statuses('bad', 3)).to.deep.equal([429, 429, 429]);
    expect(await statuses('good', 3)).to.deep.equal([200, 200, 200]);
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ reason, limit }) => reason ?? limit)).to.deep.equal(['kid', 3]);
    const [refused] = lines.filter(({ status }) => status === 401);
    expect(refused).to.include({ code: 'unauthenticated', reason: 'kid' });
  });

  it('log why credentials in another header were refused', async () => {
    const { logger, lines } = keepLog();
    const authenticate: Authenticate = ({ headers }) =>
      headers.cookie === undefined ? undefined : { refused: 'expired' };
    await using api = await startApi({ app: { authenticate, logger } });
    const { error } = expectProblem(
      await api.get('/users', { Cookie: 'session=1' }),
      401,
      'unauthenticated',
    );
    expect(error).to.equal('The credentials are not valid.');
    const reasons = lines.flatMap(({ reason }) => reason ?? []);
    expect(reasons).to.deep.equal(['expired', 'expired']);
  });

  it('log the reason of the verifier that the token’s format belongs to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-limits-'));
    const path = join(folder, 'keys');
    const { token } = addKey(path, { scopes: [], expires: '2001-01-01T00:00:00.000Z' });
    const tokens = { authenticate: async () => ({ refused: 'aud' }) };
    const { logger, lines } = keepLog();
    const reasonsOf = async (verify: Authenticate) => {
      await using api = await startApi({ app: { authenticate: verify, logger } });
      lines.length = 0;
      for (const given of [`Bearer ${token}`, 'Bearer a.b.c', 'Basic YTpi']) {
        await api.get('/users', { Authorization: given });
      }
      return lines.filter(({ status }) => status === 401).map(({ reason }) => reason);
    };
    const keys = new KeyFile(path);
    expect(await reasonsOf(bearerAuthentication([keys, tokens]))).to.deep.equal([
      'exp',
      'aud',
      'malformed',
    ]);
    expect(await reasonsOf(bearerAuthentication([keys]))).to.deep.equal([
      'exp',
      'malformed',
      'malformed',
    ]);
    rmSync(folder, { recursive: true });
  });
});
