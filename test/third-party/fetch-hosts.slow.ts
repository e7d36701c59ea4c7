// Runs rostrum/fetch in real hosts. Next.js is not a dependency of this project: run
// `npm install && npm run build` in examples/next to include it.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serve } from '@hono/node-server';
import { expect } from 'chai';
import { Hono } from 'hono';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';
import { callsTo, expectProblem } from '../adapters/http/support/api.ts';
import { freePort } from '../support/free-port.ts';
import { start } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';
import { untilServed } from '../support/until.ts';

const json = { 'Content-Type': 'application/json' };

/** Tests what a host might break: bodies in both directions, statuses without a body, and aborted requests. */
async function expectForum(site: string): Promise<void> {
  const base = `${site}/forum`;
  const calls = callsTo(base);
  const own = 'x'.repeat(900_000);
  const body = new Blob([JSON.stringify({ name: 'Ada', own })]).stream();
  const post = { method: 'POST', headers: json };
  const made = await fetch(`${base}/users`, { ...post, body, duplex: 'half' });
  expect(made.status).to.equal(201);
  const path = String(made.headers.get('location')).replace('/forum', '');
  const gotten = await calls.get(path);
  expect(gotten.body).to.include({ name: 'Ada', own });
  const known = { 'If-None-Match': gotten.headers.get('etag') ?? '' };
  expect((await calls.get(path, known)).status).to.equal(304);
  expect(await calls.send('HEAD', path)).to.include({ status: 200, text: '' });
  expect((await calls.send('OPTIONS', '/users')).headers.get('allow')).to.match(/^GET, HEAD, POST/);
  const leaving = new AbortController();
  const left = await fetch(base + path, { signal: leaving.signal });
  leaving.abort();
  await left.text().catch(() => {});
  const names = Array.from({ length: 50 }, (_, n) => calls.post('/users', { name: `No. ${n}` }));
  const statuses = (await Promise.all(names)).map(({ status }) => status);
  expect(new Set(statuses)).to.deep.equal(new Set([201]));
  const minimal = { Prefer: 'return=minimal' };
  expect((await calls.send('DELETE', path, minimal)).status).to.equal(204);
  expectProblem(await calls.get(path), 404, 'user-not-found', '/forum');
  expectProblem(await calls.post('/users', ' '.repeat(3e6)), 413, 'body-too-large', '/forum');
}

describe('rostrum/fetch in real hosts', function () {
  this.timeout(60_000);

  it('runs in Hono, as a route and as a mount that keeps the full path', async () => {
    const handle = createFetchHandler(createRostrum(createMemoryStore()), { prefix: '/forum' });
    for (const app of [
      new Hono().all('/forum/*', ({ req }) => handle(req.raw)),
      new Hono().mount('/forum', handle, { replaceRequest: false }),
    ]) {
      expect((await app.request('/forum/users')).status).to.equal(200);
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
      try {
        await once(server, 'listening');
        const { port } = server.address() as { readonly port: number };
        await expectForum(`http://127.0.0.1:${port}`);
      } finally {
        server.close();
      }
    }
  });

  it('runs in Deno', async () => {
    const deno = join(import.meta.dirname, 'node_modules', 'deno', 'bin.cjs');
    const script = join(import.meta.dirname, 'deno.js');
    const options = ['--allow-all', '--no-lock', '--node-modules-dir=manual'];
    const args = [deno, 'run', ...options, script];
    const child = start(process.execPath, args, { env: { DENO_NO_UPDATE_CHECK: '1' } });
    const [site] = await once(createInterface({ input: child.stdout }), 'line');
    await expectForum(site);
  });

  const next = join(repository, 'examples', 'next');
  const isBuilt = existsSync(join(next, '.next'));
  (isBuilt ? it : it.skip)('runs in Next.js, if examples/next has been built', async () => {
    const port = await freePort();
    const binary = join(next, 'node_modules', 'next', 'dist', 'bin', 'next');
    const args = [binary, 'start', '--port', String(port), '--hostname', '127.0.0.1'];
    start(process.execPath, args, { cwd: next, env: { NEXT_TELEMETRY_DISABLED: '1' } });
    const site = `http://127.0.0.1:${port}`;
    await untilServed(() => fetch(site), 30_000);
    await expectForum(site);
    expect(await (await fetch(site)).text()).to.match(/<li>No\. 49<\/li>/);
  });
});
