import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Context } from 'koa';
import { MemoryRateLimiter } from '../../../src/adapters/http/access/memory-limiter.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import type { Answer } from './support/answer.ts';
import { type Api, expectProblem, startApi } from './support/api.ts';
import { RawConnection } from './support/raw.ts';

const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Holds a page to a policy: no script but files of the server, and nothing from anywhere else. */
function expectStrict({ headers, text }: Answer, script: string): void {
  const policy = headers.get('content-security-policy') ?? '';
  const parts = policy.split('; ');
  expect(parts).to.include.members(["default-src 'none'", "base-uri 'none'"]);
  expect(policy).not.to.contain('unsafe');
  expect(parts).to.include.members(["form-action 'none'", "frame-ancestors 'none'"]);
  expect(parts.find((part) => part.startsWith('script-src')) ?? '').to.equal(script);
  expect(policy).not.to.match(/https?:|\*|unsafe-eval/);
  expect(text).not.to.match(/(?:src|<link[^>]+href)="(?:https?:)?\/\//);
  expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
}

describe('the pages', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());
  const open = (path: string, headers = {}) => api.get(api.server.url + path, headers);

  it('/ tells a person what this is, and where to go', async () => {
    const home = await open('/', asBrowser);
    expect(home.status).to.equal(200);
    expectStrict(home, "script-src 'self'");
    expect(home.text).to.contain('>Ready<').and.contain('color-scheme: light dark');
    const links = [...home.text.matchAll(/<(?:a|script)[^>]+(?:href|src)="([^"]+)"/g)];
    const paths = new Set(links.map(([, path = '']) => path));
    expect([...paths]).to.include.members(['/docs', '/docs/guides', '/admin', '/llms.txt']);
    for (const path of paths) expect((await open(path, asBrowser)).status, path).to.equal(200);
  });

  it('/ names and links to what its reader may see alone', async () => {
    const authenticate = () => undefined;
    const about = { store: 'in memory' };
    for (const [app, lists, tells] of [
      [{}, ['users', 'posts'], true],
      [{ anonymous: ['users:read:public'] }, ['users'], true],
      [{ authenticate, anonymous: ['posts:read:all'] }, ['posts'], false],
      [{ authenticate }, [], false],
      [{ authenticate, pages: ['home'] }, [], false],
    ] as const) {
      await using asked = await startApi({ app: { ...app, about } });
      const { text } = await asked.get(`${asked.server.url}/`, asBrowser);
      expect(text).to.contain(` data-lists="${lists.join(' ')}"`);
      const listed = [...text.matchAll(/href="\/api\/v1\/(\w+)"/g)].map(([, list]) => list);
      expect(listed).to.deep.equal(lists);
      expect(/Version [\d.]+ · in memory · since 20/.test(text)).to.equal(tells);
      expect(text.includes('asks for credentials')).to.equal('authenticate' in app);
      const isAlone = 'pages' in app;
      expect(/href="[^"]*\/(?:docs|admin|llms.txt)/.test(text)).to.equal(!isAlone);
      expect(text.includes(' data-admin="/admin"')).to.equal('authenticate' in app && !isAlone);
    }
  });

  it('/ is JSON for a program', async () => {
    for (const headers of [{}, { Accept: 'application/json' }]) {
      const home = await open('/', headers);
      expect(home.headers.get('vary')).to.equal('Accept');
      expect(home.body).to.deep.equal({
        ...{ name: 'Rostrum', status: 'ok', api: '/api/v1', docs: '/docs', admin: '/admin' },
        ...{ openapi: '/openapi.json', live: '/livez', ready: '/readyz' },
      });
    }
  });

  it('a path where nothing is served names what is near it', async () => {
    for (const [path, instead] of [
      ['/users', '/ leads to what there is'],
      ['/api/v1', 'there are /api/v1/users and /api/v1/posts'],
      ['/docs/', 'the page is /docs'],
    ] as const) {
      const { error } = expectProblem(await open(path), 404, 'path-not-found');
      expect(error).to.equal(`Nothing is served under this path: ${instead}.`);
    }
  });

  it('/ says when the store is not available', async () => {
    const ready = () => Promise.reject(new Error('gone'));
    await using ill = await startApi({ app: { ready } });
    expect((await ill.get(`${ill.server.url}/`)).body.status).to.equal('unavailable');
    expect((await ill.get(`${ill.server.url}/`, asBrowser)).text).to.contain('not available');
  });

  it('/docs is a page that loads its parts from the server alone', async () => {
    const docs = await open('/docs', asBrowser);
    expect(docs.status).to.equal(200);
    expectStrict(docs, "script-src 'self'");
    const parts = [
      ...docs.text.matchAll(/<(?:link|script|html)[^>]+(?:src|href|description)="(\/[^"]+)"/g),
    ];
    expect(parts).to.have.length(4);
    for (const [, path = ''] of parts) {
      const part = await open(path);
      expect(part.status, path).to.equal(200);
      expect(part.headers.get('content-type'), path).to.match(/^(text|application)\/(css|j)/);
    }
    for (const path of ['/docs/', '/docs/index.html', '/docs/package.json', '/docs/..%2fx']) {
      expectProblem(await open(path), 404, 'path-not-found');
    }
  });

  it('/docs is the same bytes for all who ask', async () => {
    const path = '/docs/swagger-ui-bundle.js';
    const { length } = (await open(path)).text;
    collectGarbage();
    const before = process.memoryUsage();
    const waiting = Array.from({ length: 40 }, () => {
      const connection = new RawConnection(api.server);
      connection.socket.pause();
      return connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(20));
    });
    await sleep(500);
    collectGarbage();
    const { arrayBuffers } = process.memoryUsage();
    for (const { socket } of waiting) socket.destroy();
    // A connection has some kilobytes of its own, which are nothing beside these 1.7 MB.
    expect((arrayBuffers - before.arrayBuffers) / length).to.be.below(10);
  });

  it('lead to the public URL where the server knows it', async () => {
    const publicUrl = 'http://127.0.0.1:1/backend';
    await using behind = await startApi({ app: { publicUrl } });
    const { url } = behind.server;
    const home = await behind.get(`${url}/`);
    expect(home.body).to.include({ docs: `${publicUrl}/docs`, api: `${publicUrl}/api/v1` });
    const docs = await behind.get(`${url}/docs`);
    expect(docs.text).to.contain(`src="${publicUrl}/reference.js"`);
    expect(docs.headers.get('content-security-policy')).to.contain(
      "connect-src 'self' http://127.0.0.1:1;",
    );
    const { servers } = (await behind.get(`${url}/openapi.json`)).body;
    expect(servers).to.deep.equal([{ url: `${publicUrl}/api/v1` }]);
  });

  it('/admin loads its parts from the server alone, and each is a module that a browser runs', async () => {
    const admin = await open('/admin', asBrowser);
    const [, imports = ''] = /<script type="importmap">([^<]+)</.exec(admin.text) ?? [];
    const digest = createHash('sha256').update(imports).digest('base64');
    expectStrict(admin, `script-src 'self' 'sha256-${digest}'`);
    const own = [...admin.text.matchAll(/(?:src|href)="(\/(?:admin\/|description)[^"]+)"/g)];
    const paths = new Set(own.map(([, path = '']) => path));
    const named = Object.values<string>(JSON.parse(imports).imports);
    expect([...paths]).to.include.members(named.filter((path) => !path.endsWith('/')));
    for (const path of paths) {
      const part = await open(path);
      expect(part.status, path).to.equal(200);
      expect(part.text, path).not.to.match(/^(?:import type|interface|type) /m);
      for (const [, name = ''] of part.text.matchAll(/from '(\.[^']+)'/g)) {
        expect([...paths]).to.include(new URL(name, `http://x${path}`).pathname);
      }
      const again = await open(path, { 'If-None-Match': part.headers.get('etag') ?? '' });
      expect(again.status, path).to.equal(304);
    }
    expectProblem(await open('/admin/package.json'), 404, 'path-not-found');
  });

  it('/admin/caller says what credentials allow', async () => {
    const all = await open('/admin/caller');
    expect(all.body).to.deep.include({ name: null, subject: null, asks: false });
    expect(all.body.scopes).to.include.members(['users:write', 'posts:read:all']);
    const scopes = ['posts:read'] as const;
    const callers = {
      given: { name: 'a', subject: 'b', scopes },
      bad: { refused: 'unknown' },
    } as const;
    const authenticate = (ctx: Context) => callers[ctx.get('Authorization') as 'given' | 'bad'];
    for (const anonymous of [undefined, ['users:read:public'] as const]) {
      await using asked = await startApi({ app: { authenticate, anonymous } });
      const ask = (headers = {}) => asked.get(`${asked.server.url}/admin/caller`, headers);
      const known = await ask({ Authorization: 'given' });
      expect(known.body).to.deep.equal({
        name: 'a',
        subject: 'b',
        scopes: [...scopes],
        asks: true,
      });
      expectProblem(await ask({ Authorization: 'bad' }), 401, 'unauthenticated');
      expect((await ask()).body)
        .to.include({ name: null, asks: true })
        .and.deep.include({ scopes: anonymous ?? [] });
    }
  });

  it('/admin/caller tells what runs to who reads all of users', async () => {
    const callers = { all: ['users:read'], some: ['users:read:public'] } as const;
    const authenticate = (ctx: Context) => {
      const scopes = callers[ctx.get('Authorization') as keyof typeof callers];
      return scopes && { name: 'a', subject: null, scopes };
    };
    const app = { authenticate, anonymous: ['users:read'], about: { store: 'in memory' } } as const;
    await using asked = await startApi({ app });
    const runsFor = async (headers = {}) =>
      (await asked.get(`${asked.server.url}/admin/caller`, headers)).body.runs;
    const runs = (await runsFor({ Authorization: 'all' })) as unknown as string[];
    expect(runs.join()).to.match(/^Version [\d.]+,in memory,since 20.{14} UTC$/);
    expect(await runsFor({ Authorization: 'some' })).to.equal(undefined);
    expect(await runsFor()).to.equal(undefined);
  });

  it('/admin/caller counts as a request of the API does', async () => {
    const limited = (limits: object) => {
      const authenticate = (ctx: Context) =>
        ctx.get('Authorization') === 'good'
          ? ({ name: 'a', subject: null, scopes: ['posts:read'] } as const)
          : ({ refused: 'unknown' } as const);
      return startApi({ app: { authenticate, rateLimits: limits } });
    };
    const limit = () => new MemoryRateLimiter({ name: 'n', limit: 2, window: 60 });
    for (const [limits, Authorization, status] of [
      [{ address: limit() }, 'good', 200],
      [{ caller: limit() }, 'good', 200],
      [{ failures: limit() }, 'bad', 401],
    ] as const) {
      await using api = await limited(limits);
      const caller = () => api.get(`${api.server.url}/admin/caller`, { Authorization });
      const one = await caller();
      expect(one.status).to.equal(status);
      if (status === 200) expect(one.headers.get('ratelimit')).to.equal('"n";r=1;t=60');
      expect((await api.get('/posts', { Authorization })).status).to.equal(status);
      expectProblem(await caller(), 429, 'too-many-requests');
    }
  });

  it('/docs/guides are the documentation, as pages and as Markdown', async () => {
    const guide = await open('/docs/guides/http', asBrowser);
    expectStrict(guide, '');
    expect(guide.text).to.contain('<h1 id="the-http-api">The HTTP API</h1>');
    // What is copied asks the server that the page is of.
    expect(guide.text).to.contain(`curl -s ${api.server.url}/openapi.json`);
    const links = [...guide.text.matchAll(/<a href="(\/[^"#]*)/g)].map(([, path = '']) => path);
    for (const path of new Set(links))
      expect((await open(path, asBrowser)).status, path).to.equal(200);
    const text = await open('/docs/guides/http.md');
    expect(text.headers.get('content-type')).to.equal('text/markdown; charset=utf-8');
    expect(text.text).to.equal(await readFile('docs/http.md', 'utf8'));
    const all = [...(await open('/llms.txt')).text.matchAll(/\]\((http[^)]+)\)/g)];
    expect(all.length).to.be.above(8);
    for (const [, url = ''] of all) expect((await api.get(url)).status, url).to.equal(200);
    for (const path of ['/docs/guides/none', '/docs/guides/..%2fREADME', '/docs/guides/']) {
      expectProblem(await open(path), 404, 'path-not-found');
    }
  });

  it('/docs/guides link to each other by their names, and hide what is for other readers', async () => {
    const index = (await open('/docs/guides', asBrowser)).text;
    const [, nav = ''] = /<nav aria-label="Guides">(.+?)<\/nav>/s.exec(index) ?? [];
    const guides = [...nav.matchAll(/href="(\/docs\/guides[^"#]*)"/g)].map(([, path = '']) => path);
    expect(guides.slice(0, 3)).to.deep.equal([
      ...['/docs/guides', '/docs/guides/README', '/docs/guides/http'],
    ]);
    const ids = new Map<string, Set<string | undefined>>();
    const links: { from: string; to: string; name: string }[] = [];
    for (const from of guides) {
      const { text } = await open(from, asBrowser);
      expect(text, from).not.to.match(/&lt;(?:!--|picture)/);
      ids.set(from, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)));
      for (const [, to = '', name = ''] of text.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g)) {
        links.push({ from, to: to.startsWith('#') ? from + to : to, name });
      }
    }
    const targets = new Set(links.map(({ to }) => to));
    expect([...targets]).to.include.members([
      ...['/docs/guides/CONTRIBUTING', '/docs/guides/SECURITY', '/docs/guides/CHANGELOG'],
      '/docs/guides/deploying#upgrade',
    ]);
    expect(links.filter(({ name }) => /\.md$/.test(name))).to.deep.equal([]);
    const broken = links.filter(({ to }) => {
      const [path = '', id] = to.split('#');
      return id !== undefined && ids.has(path) && !ids.get(path)?.has(id);
    });
    expect(broken).to.deep.equal([]);
  });

  it('/problems/CODE has an example with the members that a body has', async () => {
    await using api = await startApi();
    const { id } = await api.make('/users', { name: 'A', email: 'a@example.com' });
    await api.make('/posts', { title: 'A', authorId: id });
    const bodies = [
      await api.post('/users', { name: ' ' }),
      await api.post('/users', { name: 'B', email: 'a@example.com' }),
      await api.send('DELETE', `/users/${id}`),
      await api.get('/users?limit=0'),
      await api.get('/users?cursor=x'),
      await api.get(`/users/${id}`, { 'If-None-Match': 'x' }),
      await api.get('/users/none'),
    ].map(({ body }) => body as unknown as Readonly<Record<string, unknown>>);
    expect(bodies.map(({ code }) => code)).to.deep.equal([
      ...['invalid-record', 'email-taken', 'user-has-posts', 'invalid-query', 'invalid-cursor'],
      ...['invalid-header', 'user-not-found'],
    ]);
    for (const body of bodies) {
      const page = await api.get(`${api.server.url}/problems/${body.code}`, asBrowser);
      const [, text = ''] = /<code>(\{[^<]+)<\/code>/.exec(page.text) ?? [];
      const example = JSON.parse(text.replaceAll('&quot;', '"'));
      expect(Object.keys(example), text).to.deep.equal(Object.keys(body));
      if (body.errors === undefined) continue;
      const [first = {}, shown = {}] = [body, example].map(({ errors }) => errors[0]);
      expect(Object.keys(shown), text).to.deep.equal(Object.keys(first));
    }
  });

  it('lead a person on from paths that are none for people, and say where nothing is', async () => {
    for (const [path, to] of [
      ['/docs/', '/docs'],
      ['/api/v1', '/docs'],
      ['/api/v1/', '/docs'],
      ['/admin/', '/admin'],
      ['/docs/guides/', '/docs/guides'],
      ['/docs/guides/http/', '/docs/guides/http'],
      ['/problems/', '/problems'],
      ['/problems/internal/', '/problems/internal'],
    ] as const) {
      const led = await open(path, asBrowser);
      expect([led.status, led.headers.get('location')], path).to.deep.equal([307, to]);
    }
    const missing = await open('/nothing', asBrowser);
    expect(missing.status).to.equal(404);
    expectStrict(missing, '');
    expectProblem(await open('/api/v1/nothing', asBrowser), 404, 'path-not-found');
    expect((await open('/problems')).body.problems).to.deep.include({
      ...(await open('/problems/internal')).body,
    });
  });

  it('are those that are switched on', async () => {
    await using none = await startApi({ app: { pages: [] } });
    const { url } = none.server;
    for (const path of ['/docs', '/docs/guides', '/admin', '/admin/caller', '/llms.txt']) {
      expectProblem(await none.get(url + path), 404, 'path-not-found');
    }
    expect((await none.get(`${url}/`, asBrowser)).body).not.to.have.any.keys('docs', 'admin');
    await using docs = await startApi({ app: { pages: ['docs'] } });
    expect((await docs.get(`${docs.server.url}/docs`, asBrowser)).text).not.to.contain('/admin');
    await using home = await startApi({ app: { pages: ['home'] } });
    const led = await home.get(`${home.server.url}/api/v1`, asBrowser);
    expect(led.headers.get('location')).to.equal('/');
  });

  it('can only be read', async () => {
    for (const path of ['/', '/docs', '/admin', '/home.js', '/openapi.json']) {
      const answer = await api.send('POST', api.server.url + path);
      expectProblem(answer, 405, 'method-not-allowed');
    }
  });
});
