import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { rostrumListener } from '../../../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../../src/index.ts';
import type { Answer } from '../support/answer.ts';
import { type Api, callsTo, expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';

const origin = 'https://app.example.com';
const preflight = { 'Access-Control-Request-Method': 'PATCH' };

function corsOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control')));
}

const exposed =
  'ETag, Location, Link, X-Total-Count, X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, ' +
  'Idempotency-Replayed, Preference-Applied, WWW-Authenticate, Allow, Accept, Accept-Post, Accept-Patch';
const readable = {
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
};

describe('CORS', () => {
  let api: Api;
  before(async () => {
    api = await startApi({ app: { authenticate, cors: [origin, 'http://localhost:5173'] } });
  });
  after(() => api[Symbol.asyncDispose]());

  it('lets listed origins read every response, including errors, without cookies', async () => {
    const headers = { Origin: origin };
    const reader = { ...headers, ...as({ scopes: ['users:read'] }) };
    for (const [status, answer] of [
      [200, await api.get('/users', reader)],
      [400, await api.get('/users?x=1', reader)],
      [401, await api.get('/users', headers)],
      [403, await api.get('/posts', reader)],
      [404, await api.get('/nothing', headers)],
      [405, await api.send('PUT', '/users', headers)],
      [200, await api.get(`${api.server.url}/problems/internal`, headers)],
    ] as const) {
      expect(answer.status).to.equal(status);
      expect(corsOf(answer)).to.deep.equal(readable);
      expect(answer.headers.get('vary')).to.match(/\bOrigin\b/);
    }
  });

  it('sends no CORS headers to other origins, only Vary: Origin', async () => {
    const others = [
      ...[undefined, 'null', '*', 'https://app.example.com.evil.org', 'https://evil.org'],
      ...['http://app.example.com', 'https://app.example.com:444', 'HTTPS://APP.EXAMPLE.COM'],
      `${origin}, ${origin}`,
    ];
    for (const other of others) {
      const headers = other === undefined ? {} : { Origin: other };
      for (const answer of [
        await api.get('/users', headers),
        await api.send('OPTIONS', '/users/x', { ...headers, ...preflight }),
      ]) {
        expect(corsOf(answer), other).to.deep.equal({});
        expect(answer.headers.get('vary')).to.match(
          /^Origin(?:, Access-Control-Request-Headers)?$/,
        );
      }
    }
  });

  it('answers preflights without credentials', async () => {
    const asked = { 'Access-Control-Request-Headers': 'authorization, baggage, sentry-trace' };
    const headers = { Origin: origin, ...preflight, ...asked };
    const answer = await api.send('OPTIONS', '/users/x', headers);
    expect([answer.status, answer.text]).to.deep.equal([204, '']);
    const { 'access-control-allow-headers': sent, ...rest } = corsOf(answer);
    expect(rest).to.deep.equal({
      ...readable,
      'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
      'access-control-max-age': '600',
    });
    expect(sent).to.equal('authorization, baggage, sentry-trace');
    expect(answer.headers.get('vary')).to.equal('Origin, Access-Control-Request-Headers');
    const plain = await api.send('OPTIONS', '/users/x', { Origin: origin });
    expect([plain.status, corsOf(plain)]).to.deep.equal([204, readable]);
    const unserved = await api.send('OPTIONS', '/nothing', { Origin: origin, ...preflight });
    expectProblem(unserved, 404, 'path-not-found');
  });

  it('allows wildcards and * where requests without credentials can only read', async () => {
    const readers = { anonymous: ['posts:read', 'users:read:public'] } as const;
    const allowed = async (cors: readonly string[], of: string) => {
      await using open = await startApi({ app: { ...readers, authenticate, cors } });
      const answer = await open.get('/posts', { Origin: of });
      return answer.headers.get('access-control-allow-origin');
    };
    for (const [pattern, right, wrong] of [
      [
        'https://*.preview.example',
        ['https://a.preview.example', 'https://x-1.preview.example'],
        [
          ...['https://preview.example', 'https://a.b.preview.example', 'http://a.preview.example'],
          ...[
            'https://.preview.example',
            'https://a.preview.example:444',
            'https://evilpreview.example',
          ],
        ],
      ],
      [
        'capacitor://localhost',
        ['capacitor://localhost'],
        ['tauri://localhost', 'http://localhost'],
      ],
      ['*', ['https://any.example', 'capacitor://localhost'], ['null', '']],
    ] as const) {
      for (const of of right) expect(await allowed([pattern], of), of).to.equal(of);
      for (const of of wrong) expect(await allowed([pattern], of), of).to.equal(null);
    }
  });

  it('refuses wildcards and * where requests without credentials can do more', () => {
    const create = (options: object) => () =>
      rostrumListener(createRostrum(createMemoryStore()), options);
    for (const cors of [['*'], ['https://a.b', 'https://*.preview.example']]) {
      for (const [options, isRefused] of [
        [{}, true],
        [{ anonymous: ['posts:read', 'posts:write'] }, true],
        [{ authenticate, anonymous: ['users:read'] }, true],
        [{ anonymous: [] }, false],
        [{ authenticate }, false],
        [{ authenticate, anonymous: ['posts:read'] }, false],
      ] as const) {
        const call = create({ cors, ...options });
        if (isRefused) expect(call).to.throw(TypeError, 'any web page');
        else expect(call).not.to.throw();
      }
    }
  });

  it('is disabled if no origins are listed', async () => {
    await using closed = await startApi({ app: { authenticate } });
    const headers = { Origin: origin, ...preflight };
    const preflighted = await closed.send('OPTIONS', '/users', headers);
    expect(preflighted.status).to.equal(204);
    for (const answer of [await closed.get('/users', headers), preflighted]) {
      expect(corsOf(answer)).to.deep.equal({});
      expect(answer.headers.get('vary')).to.equal(null);
    }
  });

  it('works in a node:http app behind a public URL', async () => {
    const options = { cors: [origin], publicUrl: 'https://example.com/backend' };
    const rostrum = createRostrum(createMemoryStore());
    const mounted = createServer(rostrumListener(rostrum, { ...options, authenticate }));
    await once(mounted.listen(0, '127.0.0.1'), 'listening');
    const { port } = mounted.address() as AddressInfo;
    const calls = callsTo(`http://127.0.0.1:${port}/api/v1`);
    const page = await calls.get('/problems/internal', { Origin: origin });
    expect(page.headers.get('vary')).to.equal('Origin, Accept');
    expect(corsOf(page)).to.deep.equal(readable);
    const asked = await calls.get('/users', { Origin: origin });
    expect(asked.headers.get('www-authenticate')).to.equal('Bearer realm="rostrum"');
    expect(asked.body.type).to.equal('https://example.com/backend/api/v1/problems/unauthenticated');
    const made = await calls.post('/users', { name: 'Ann' }, as({ scopes: ['users:write'] }));
    expect(made.headers.get('location')).to.match(
      /^https:\/\/example\.com\/backend\/api\/v1\/users\//,
    );
    mounted.closeAllConnections();
    mounted.close();
  });
});
