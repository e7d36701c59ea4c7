// Calls the server from pages of other origins in Chromium.

import { createServer, type Server as HttpServer } from 'node:http';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { freePort } from '../../support/free-port.ts';
import { type Server, startServer } from '../../support/server.ts';
import { bundledSuite } from '../suite-bundle.ts';
import { launch, looks, violationsIn, visit } from './chromium.ts';

describe('a page in Chromium', function () {
  this.timeout(300_000);
  let browser: Browser;
  let pages: HttpServer;
  let listed: string;
  let server: Server;
  let api: string;

  before(async function () {
    browser = (await launch()) ?? this.skip();
    // An allowed origin that differs from that of the API.
    pages = createServer((_, response) =>
      response.end('<!doctype html><link rel="icon" href="data:,">'),
    );
    const port = await freePort();
    await new Promise<void>((listening) => pages.listen(port, 'localhost', listening));
    listed = `http://localhost:${port}`;
    server = await startServer('--store', 'memory:', '--cors', listed);
    api = `${server.address}/api/v1`;
    await send('users', { name: 'Ada' });
    for (const title of ['One', 'Two', 'Three']) await send('posts', { title });
  });
  after(async () => {
    await browser?.close();
    pages?.close();
    await server?.stop();
  });

  async function send(list: string, body: object): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    expect((await fetch(`${api}/${list}`, init)).status).to.equal(201);
  }

  it('can send every request and read every header and error from an allowed origin', async () => {
    const seen: unknown[] = [];
    await visit(browser, listed, undefined, async (page) => {
      seen.push(
        ...(await page.evaluate(async (api) => {
          const json = { 'Content-Type': 'application/json' };
          const key = { 'Idempotency-Key': 'browser', Prefer: 'return=minimal' };
          const init = { method: 'POST', headers: { ...json, ...key }, body: '{"name": "Grace"}' };
          const made = await fetch(`${api}/users`, init);
          const again = await fetch(`${api}/users`, init);
          const user = new URL(made.headers.get('Location') ?? '', api).href;
          const change = (method: string, etag: string) => {
            const headers = { 'Content-Type': 'application/merge-patch+json', 'If-Match': etag };
            return fetch(user, { method, headers, body: method === 'PATCH' ? '{"n": 1}' : null });
          };
          const changed = await change('PATCH', made.headers.get('ETag') ?? '');
          const late = await change('PATCH', '"1"');
          const problem = (await late.json()) as { code: string; requestId: string };
          const list = await fetch(`${api}/users?limit=1&count=exact`);
          const gone = await change('DELETE', changed.headers.get('ETag') ?? '');
          const missing = await fetch(user);
          return [
            [made.status, made.headers.get('Preference-Applied')],
            again.headers.get('Idempotency-Replayed'),
            [changed.status, changed.headers.get('ETag')],
            [late.status, late.headers.get('ETag'), problem.code],
            problem.requestId === late.headers.get('X-Request-Id'),
            list.headers.get('X-Total-Count'),
            /rel="next"/.test(list.headers.get('Link') ?? ''),
            gone.status,
            [missing.status, ((await missing.json()) as { code: string }).code],
          ];
        }, api)),
      );
    });
    expect(seen).to.deep.equal([
      [201, 'return=minimal'],
      'true',
      [200, '"2"'],
      [412, '"2"', 'version-mismatch'],
      true,
      '2',
      true,
      200,
      [404, 'user-not-found'],
    ]);
  });

  it('can neither read nor change anything from another origin', async () => {
    const other = await browser.newPage();
    // A different port makes a different origin.
    const stranger = createServer((_, response) => response.end('<!doctype html>'));
    const port = await freePort();
    await new Promise<void>((listening) => stranger.listen(port, 'localhost', listening));
    try {
      await other.goto(`http://localhost:${port}`);
      const outcomes = await other.evaluate(async (api) => {
        const json = { 'Content-Type': 'application/json' };
        const init = { method: 'POST', headers: json, body: '{"name": "Mallory"}' };
        const tried = [fetch(`${api}/users`), fetch(`${api}/users`, init)];
        return (await Promise.allSettled(tried)).map(({ status }) => status);
      }, api);
      expect(outcomes).to.deep.equal(['rejected', 'rejected']);
      const found = await (await fetch(`${api}/users?name=Mallory`)).json();
      expect(found).to.deep.equal({ users: [], next: null });
    } finally {
      stranger.close();
    }
  });

  for (const look of looks) {
    it(`shows a readable API reference, ${look.colorScheme}, ${look.viewport.width} px wide`, async () => {
      await visit(browser, `${server.address}/docs`, look, async (page) => {
        await page.locator('.opblock-summary-control').nth(4).click();
        await page.locator('td.parameters-col_description').first().waitFor();
        // Swagger UI's own: selects without labels, text outside of landmarks, a heading of another level.
        const own = /^(?:heading-order|region|scrollable-region-focusable|select-name):/;
        expect((await violationsIn(page)).filter((one) => !own.test(one))).to.deep.equal([]);
      });
    });
  }

  it('can run the store contract suite', async () => {
    await visit(browser, listed, undefined, async (page) => {
      await page.addScriptTag({ content: await bundledSuite() });
      const [count, failures] = JSON.parse(await page.evaluate<string>('bundle.run()'));
      expect(failures).to.deep.equal([]);
      expect(count).to.be.above(140);
    });
  });
});
