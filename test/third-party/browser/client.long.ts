// Runs rostrum-client in Chromium, in a page with another origin than the API.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { startServer } from '../../support/server.ts';
import { inChromium } from './chromium.ts';

describe('rostrum-client in Chromium', () => {
  const given = inChromium();
  const host = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Page</title>');
  });
  let origin: string;
  let page: Page;

  before(async () => {
    await once(host.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    const context = await given.browser.newContext({ timezoneId: 'America/New_York' });
    page = await context.newPage();
    await page.goto(origin);
    const { outputFiles } = await build({
      entryPoints: [`${import.meta.dirname}/../../../packages/rostrum-client/src/index.ts`],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'rostrum',
    });
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  });
  after(() => host.close());

  /** Runs code in the page, where `api` is a client. */
  const run = (address: string, code: string): Promise<unknown> =>
    page.evaluate(`(async () => {
      const api = rostrum.createClient({ url: '${address}/api/v1', retry: { tries: 1 } });
      ${code}
    })()`);

  it('suggests --cors if the server does not allow the page’s origin', async () => {
    await using server = await startServer('--store', 'memory:');
    const code = 'return api.users.list().catch(({ code, message }) => [code, message]);';
    expect(await run(server.address, code)).to.deep.equal([
      'no-response',
      'No response. If this page is served from another origin, does the server allow it (--cors)?',
    ]);
  });

  it('can read every header that it needs from another origin', async () => {
    await using server = await startServer('--store', 'memory:', '--cors', origin);
    const code = `
      const options = { idempotencyKey: 'k' };
      const { record } = await api.posts.create({ title: 'A' }, options);
      const { version, replayed } = await api.posts.create({ title: 'A' }, options);
      const update = api.posts.patch(record.id, { title: 'B' }, { ifMatch: 7 });
      const problem = await update.catch((error) => error);
      return [version, replayed, problem.code, problem.version];`;
    expect(await run(server.address, code)).to.deep.equal([1, true, 'version-mismatch', 1]);
  });

  it("interprets a date without a time in the browser's time zone", async () => {
    await using server = await startServer('--store', 'memory:', '--cors', origin);
    const code = `
      for (const publishedAt of ['2020-06-15T03:59:59Z', '2020-06-15T04:00:00Z', '2020-06-16T03:59:59Z']) {
        await api.posts.create({ title: publishedAt, publishedAt });
      }
      const query = { publishedAt: { gte: '2020-06-15', lte: '2020-06-15' }, sort: 'title' };
      return (await api.posts.list(query)).items.map(({ title }) => title);`;
    expect(await run(server.address, code)).to.deep.equal([
      '2020-06-15T04:00:00Z',
      '2020-06-16T03:59:59Z',
    ]);
  });
});
