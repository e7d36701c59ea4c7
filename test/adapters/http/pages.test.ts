import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Context } from 'koa';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { slotLimits } from '../../../src/adapters/http/limits/slots.ts';
import { loadOnce } from '../../../src/adapters/http/pages/files.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { repository, temporaryDirectory } from '../../support/repository-copy.ts';
import { until } from '../../support/until.ts';
import type { Answer } from './support/answer.ts';
import { type Api, callsTo, expectProblem, startApi } from './support/api.ts';
import { exchange, RawConnection } from './support/raw.ts';

const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Expects a strict Content-Security-Policy: the page loads scripts and other files only from this server. */
function expectStrict({ headers, text }: Answer): void {
  const policy = headers.get('content-security-policy') ?? '';
  const parts = policy.split('; ');
  expect(parts).to.include.members(["default-src 'none'", "base-uri 'none'"]);
  expect(policy).not.to.contain('unsafe');
  expect(parts).to.include.members(["form-action 'none'", "frame-ancestors 'none'"]);
  expect(parts).to.include("script-src 'self'");
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

  it('/ is a home page with links to the other pages', async () => {
    const home = await open('/', asBrowser);
    expect(home.status).to.equal(200);
    expectStrict(home);
    expect(home.text).to.contain('>Ready.<').and.contain('color-scheme: light dark');
    const links = [...home.text.matchAll(/<a[^>]+href="([^"]+)"/g)];
    const paths = new Set(links.map(([, path = '']) => path));
    expect([...paths]).to.include.members(['/docs', '/admin', '/openapi.json', '/problems']);
    for (const path of paths) expect((await open(path, asBrowser)).status, path).to.equal(200);
  });

  it('/ shows version and store only if no credentials are required, else how to send a key', async () => {
    const authenticate = () => undefined;
    const about = { store: 'in memory' };
    for (const app of [{}, { authenticate }, { authenticate, pages: ['home'] as const }]) {
      await using asked = await startApi({ app: { ...app, about } });
      const { text } = await asked.get(`${asked.server.url}/`, asBrowser);
      const isOpen = !('authenticate' in app);
      expect(/Version [\d.]+ · in memory · since 20/.test(text)).to.equal(isOpen);
      expect(text.includes('Authorization: Bearer KEY')).to.equal(!isOpen);
      expect(/href="[^"]*\/(?:docs|admin)/.test(text)).to.equal(!('pages' in app));
    }
  });

  it('/ is JSON unless the client asks for HTML', async () => {
    for (const headers of [{}, { Accept: 'application/json' }]) {
      const home = await open('/', headers);
      expect(home.headers.get('vary')).to.equal('Accept');
      expect(home.body).to.deep.equal({
        ...{ name: 'Rostrum', status: 'ok', api: '/api/v1', docs: '/docs', admin: '/admin' },
        ...{ openapi: '/openapi.json', live: '/livez', ready: '/readyz' },
      });
    }
  });

  it('unknown paths return 404 with a hint', async () => {
    for (const path of ['/users', '/livez/']) {
      const { error } = expectProblem(await open(path), 404, 'path-not-found');
      expect(error).to.match(/^No such path\. /);
    }
  });

  it('/ shows when the store is unavailable', async () => {
    const ready = () => Promise.reject(new Error('gone'));
    await using ill = await startApi({ app: { ready } });
    expect((await ill.get(`${ill.server.url}/`)).body.status).to.equal('unavailable');
    expect((await ill.get(`${ill.server.url}/`, asBrowser)).text).to.contain('unavailable');
  });

  it('/docs loads all its files from this server', async () => {
    const docs = await open('/docs', asBrowser);
    expect(docs.status).to.equal(200);
    expectStrict(docs);
    expect(docs.headers.get('cache-control')).to.equal('no-cache');
    const parts = [...docs.text.matchAll(/<(?:link|script|div)[^>]+(?:src|href|url)="(\/[^"]+)"/g)];
    expect(parts).to.have.length(5);
    for (const [, path = ''] of parts) {
      const part = await open(path);
      expect(part.status, path).to.equal(200);
      expect(part.headers.get('content-type'), path).to.match(/^(text|application)\/(css|j)/);
    }
    for (const path of ['/docs/index.html', '/docs/package.json', '/docs/..%2fx']) {
      expectProblem(await open(path), 404, 'path-not-found');
    }
  });

  it('/docs names its package if that was not installed when the server started', async () => {
    await using copy = await temporaryDirectory();
    const packages = join(copy.path, 'node_modules');
    const link = (name: string) =>
      symlink(join(repository, 'node_modules', name), join(packages, name), 'junction');
    await mkdir(packages);
    for (const name of await readdir(join(repository, 'node_modules'))) {
      if (name !== 'swagger-ui-dist') await link(name);
    }
    for (const name of ['package.json', 'src']) {
      await cp(join(repository, name), join(copy.path, name), { recursive: true });
    }
    const load = (name: string) => import(join(copy.path, 'src', name));
    const { createApp, serve } = await load('adapters/http/index.ts');
    const { createMemoryStore } = await load('adapters/memory/index.ts');
    const { createRostrum } = await load('index.ts');
    const app = createApp(createRostrum(createMemoryStore()), { ready: async () => {} });
    const server = await serve(app, { port: 0 });
    const docs = () => callsTo(server.url).get('/docs');
    const { error } = expectProblem(await docs(), 404, 'path-not-found');
    expect(error).to.contain('npm i swagger-ui-dist');
    // Once it is installed, the page would open without the files that it loads.
    await link('swagger-ui-dist');
    expectProblem(await docs(), 404, 'path-not-found');
    await server.close();
  });

  it('/docs keeps one copy of its files in memory for all requests', async () => {
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
    // Each connection also has a few kilobytes of buffers, which is little compared to the 1.7 MB of this file.
    expect((arrayBuffers - before.arrayBuffers) / length).to.be.below(10);
  });

  it('link to the public URL if it is configured', async () => {
    const publicUrl = 'http://127.0.0.1:1/backend';
    await using behind = await startApi({ app: { publicUrl } });
    const { url } = behind.server;
    const home = await behind.get(`${url}/`);
    expect(home.body).to.include({ docs: `${publicUrl}/docs`, api: `${publicUrl}/api/v1` });
    const docs = await behind.get(`${url}/docs`);
    expect(docs.text).to.contain(`src="${publicUrl}/docs/docs.js"`);
    expect(docs.headers.get('content-security-policy')).to.contain(
      "connect-src 'self' http://127.0.0.1:1;",
    );
    expect(docs.headers.get('referrer-policy')).to.equal('no-referrer');
    const { servers } = (await behind.get(`${url}/openapi.json`)).body;
    expect(servers).to.deep.equal([{ url: `${publicUrl}/api/v1` }]);
  });

  it('/admin serves rostrum-admin', async () => {
    const admin = await open('/admin', asBrowser);
    expectStrict(admin);
    expect(admin.headers.get('referrer-policy')).to.equal('no-referrer');
    const loaded = [...admin.text.matchAll(/(?:src|href)="(admin\/[^"]+)"/g)];
    expect(loaded.map(([, path]) => path)).to.include('admin/admin.js');
    for (const [, path = ''] of loaded) expect((await open(`/${path}`)).status).to.equal(200);
    expectProblem(await open('/admin/package.json'), 404, 'path-not-found');
  });

  it('files return 304 for If-None-Match with one tag, a list of tags, or *', async () => {
    // Not with fetch: it treats a request with If-None-Match as a reload and hides the 304.
    const ask = async (given: string) => {
      const headers = `Host: x\r\nIf-None-Match: ${given}\r\n\r\n`;
      const answer = await exchange(api.server, `GET /admin/admin.js HTTP/1.1\r\n${headers}`);
      return [answer?.status, answer?.headers.get('etag')];
    };
    const [status, tag] = await ask('"x"');
    expect(status).to.equal(200);
    for (const given of [tag, `"x", ${tag}`, `W/${tag}`, '*']) {
      expect(await ask(String(given)), String(given)).to.deep.equal([304, tag]);
    }
  });

  it('a file is read once, and again after a failure', async () => {
    await using directory = await temporaryDirectory();
    const path = `${directory.path}/page.css`;
    const read = loadOnce(() => readFile(path, 'utf8'));
    const failure = await read().catch((error) => error);
    expect(failure).to.have.property('code', 'ENOENT');
    await writeFile(path, 'first');
    expect(await read()).to.equal('first');
    await writeFile(path, 'second');
    expect(await read()).to.equal('first');
  });

  it('/admin/caller returns the name, subject and scopes of the caller', async () => {
    const all = await open('/admin/caller');
    expect(all.body).to.deep.include({ name: null, subject: null, acceptsCredentials: false });
    expect(all.body.scopes).to.include.members(['users:write', 'posts:read:all']);
    const scopes = ['posts:read'] as const;
    const callers = {
      given: { name: 'a', subject: 'b', scopes },
      labelled: { name: 'a', subject: null, scopes, label: 'Import' },
      bad: { refused: 'unknown' },
    } as const;
    const authenticate = (ctx: Context) =>
      callers[ctx.get('Authorization') as keyof typeof callers];
    for (const anonymous of [undefined, ['users:read:public'] as const]) {
      await using asked = await startApi({ app: { authenticate, anonymous } });
      const ask = (headers = {}) => asked.get(`${asked.server.url}/admin/caller`, headers);
      const known = await ask({ Authorization: 'given' });
      expect(known.body).to.deep.equal({
        name: 'a',
        subject: 'b',
        scopes: [...scopes],
        acceptsCredentials: true,
      });
      const labelled = await ask({ Authorization: 'labelled' });
      expect(labelled.body).to.include({ name: 'a', label: 'Import' });
      expectProblem(await ask({ Authorization: 'bad' }), 401, 'unauthenticated');
      expect((await ask()).body)
        .to.include({ name: null, acceptsCredentials: true })
        .and.deep.include({ scopes: anonymous ?? [] });
    }
  });

  it('/admin/caller shows version and store only to callers with users:read', async () => {
    const callers = { all: ['users:read'], some: ['users:read:public'] } as const;
    const authenticate = (ctx: Context) => {
      const scopes = callers[ctx.get('Authorization') as keyof typeof callers];
      return scopes && { name: 'a', subject: null, scopes };
    };
    const app = { authenticate, anonymous: ['users:read'], about: { store: 'in memory' } } as const;
    await using asked = await startApi({ app });
    const aboutFor = async (headers = {}) =>
      (await asked.get(`${asked.server.url}/admin/caller`, headers)).body.about;
    const about = (await aboutFor({ Authorization: 'all' })) as unknown as string[];
    expect(about.join()).to.match(/^Version [\d.]+,in memory,since 20.{14} UTC$/);
    expect(await aboutFor({ Authorization: 'some' })).to.equal(undefined);
    expect(await aboutFor()).to.equal(undefined);
    await using alone = await startApi({ app: { ...app, authenticate: undefined } });
    const { body } = await alone.get(`${alone.server.url}/admin/caller`);
    expect(body).to.include({ name: null }).and.not.to.have.property('about');
  });

  it('respond while all slots for reads are taken', async () => {
    const store = createMemoryStore();
    const gate = Promise.withResolvers<undefined>();
    let reading = 0;
    store.users.get = () => {
      reading += 1;
      return gate.promise;
    };
    const authenticate = (ctx: Context) =>
      ctx.get('Authorization') === 'good'
        ? ({ name: 'a', subject: null, scopes: ['users:read'] } as const)
        : ({ refused: 'unknown' } as const);
    await using api = await startApi({ store, app: { authenticate } });
    const reads = Array.from({ length: slotLimits.reads }, () =>
      api.get('/users/x', { Authorization: 'good' }),
    );
    await until(() => reading === slotLimits.reads, 'all slots are taken');
    for (const path of ['/', '/docs', '/admin/caller']) {
      const page = await api.get(api.server.url + path, { Authorization: 'good' });
      expect(page.status, path).to.equal(200);
    }
    gate.resolve(undefined);
    for (const { status } of await Promise.all(reads)) expect(status).to.equal(404);
  });

  it('/admin/caller counts towards the rate limits', async () => {
    const limited = (limits: object) => {
      const authenticate = (ctx: Context) =>
        ctx.get('Authorization') === 'good'
          ? ({ name: 'a', subject: null, scopes: ['posts:read'] } as const)
          : ({ refused: 'unknown' } as const);
      return startApi({ app: { authenticate, rateLimits: limits } });
    };
    const limit = () => new RateLimiterMemory({ points: 2, duration: 60 });
    for (const [limits, Authorization, status] of [
      [{ address: limit() }, 'good', 200],
      [{ caller: limit() }, 'good', 200],
      [{ failures: limit() }, 'bad', 401],
    ] as const) {
      await using api = await limited(limits);
      const caller = () => api.get(`${api.server.url}/admin/caller`, { Authorization });
      const one = await caller();
      expect(one.status).to.equal(status);
      if (status === 200) expect(one.headers.get('ratelimit')).to.match(/^"\w+";r=1;t=\d+$/);
      expect((await api.get('/posts', { Authorization })).status).to.equal(status);
      expectProblem(await caller(), 429, 'too-many-requests');
    }
  });

  it('redirect from a trailing slash', async () => {
    for (const path of ['/docs', '/admin']) {
      const { status, headers } = await open(`${path}/`, asBrowser);
      expect([status, headers.get('location')]).to.deep.equal([307, path]);
      const url = `${api.server.url}${path}/`;
      expectProblem(await api.send('POST', url), 405, 'method-not-allowed');
      expect((await api.send('OPTIONS', url)).status).to.equal(204);
    }
    expect((await open('/problems')).body.problems).to.deep.include({
      ...(await open('/problems/internal')).body,
    });
  });

  it('can be disabled one by one', async () => {
    await using none = await startApi({ app: { pages: [] } });
    const { url } = none.server;
    for (const path of ['/docs', '/admin', '/admin/caller']) {
      expectProblem(await none.get(url + path), 404, 'path-not-found');
    }
    expect((await none.get(`${url}/`, asBrowser)).body).not.to.have.any.keys('docs', 'admin');
    await using docs = await startApi({ app: { pages: ['docs'] } });
    expect((await docs.get(`${docs.server.url}/docs`, asBrowser)).text).not.to.contain('/admin');
  });

  it('reject methods other than GET and HEAD', async () => {
    for (const path of ['/', '/docs', '/admin', '/docs/docs.js', '/openapi.json']) {
      const answer = await api.send('POST', api.server.url + path);
      expectProblem(answer, 405, 'method-not-allowed');
    }
  });
});
