// The pages of the server and the examples in Chromium. The pages of the examples have another origin
// than the API that they call. Chromium has to be on the path (`apt-get install chromium`), or
// CHROMIUM says where it is. With SCREENSHOTS=FOLDER it leaves a picture of each page there.

import { createServer, type Server as HttpServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../support/free-port.ts';
import { npm } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';
import { type Server, startServer } from '../support/server.ts';
import { bundledSuite } from '../testing/bundle.ts';
import { launch, looks } from './chromium.ts';

/** What a person sees of a post: its row. */
const row = (page: Page, title: string) =>
  page.locator('li, tr').filter({ hasText: new RegExp(`^${title}`) });

/** Renames the post and deletes it, where each row has a button for either. */
async function renameAndDelete(page: Page): Promise<void> {
  page.once('dialog', async (dialog) => {
    await renameElsewhere(page, 'Created', 'Taken');
    await dialog.accept('Lost');
  });
  await row(page, 'Created').getByRole('button', { name: 'Rename' }).click();
  await page.getByText('Somebody else changed this post').waitFor();
  await row(page, 'Taken').waitFor();
  page.once('dialog', (dialog) => dialog.accept('Renamed'));
  await row(page, 'Taken').getByRole('button', { name: 'Rename' }).click();
  await row(page, 'Renamed').waitFor();
  expect(await totalOf(page, 'Renamed')).to.equal(1);
  await row(page, 'Renamed').getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Renamed').waitFor({ state: 'detached' });
}

/** Each sees an error, creates a post that is called Created, renames it to Renamed, and deletes it. */
const examples: Record<string, (page: Page) => Promise<void>> = {
  async 'plain-fetch'(page) {
    await row(page, 'Note 30').waitFor();
    expect(await page.locator('li').count()).to.equal(10);
    await page.getByRole('button', { name: 'More' }).click();
    await row(page, 'Note 11').waitFor();

    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('label', { hasText: 'Title' }).locator('small:not(:empty)').waitFor();
    expect(await page.getByRole('alert').textContent()).to.match(/\w/);
    await page.getByRole('textbox', { name: 'Title' }).fill('Created');
    await page.getByLabel('Author').selectOption('Ada');
    await page.getByRole('button', { name: 'Create' }).click();
    await renameAndDelete(page);
  },

  async refine(page) {
    await row(page, 'Note 30').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await row(page, 'Note 20').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();

    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('label', { hasText: 'Title' }).locator('small:not(:empty)').waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Created');
    await page.getByLabel('Author').selectOption('Ada');
    await page.getByRole('button', { name: 'Create' }).click();
    await renameAndDelete(page);
  },

  async 'react-admin'(page) {
    await page.getByRole('menuitem', { name: 'Posts' }).click();
    await page.getByText('Note 30', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Create' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.MuiFormHelperText-root.Mui-error').waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Created');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Created', { exact: true }).click();
    const title = page.getByRole('textbox', { name: 'Title' });
    await title.fill('Lost');
    await renameElsewhere(page, 'Created', 'Taken');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else changed this record').waitFor();
    await page.waitForFunction("document.querySelector('input[name=title]').value === 'Taken'");
    await title.fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Renamed', { exact: true }).click();
    expect(await totalOf(page, 'Renamed')).to.equal(1);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Note 30', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Go to page 2' }).click();
    await page.getByText('Note 20', { exact: true }).waitFor();
  },
};

/** Changes the title of a post as another client would. */
async function renameElsewhere(page: Page, from: string, to: string): Promise<void> {
  const api = new URL(page.url()).searchParams.get('api');
  const response = await fetch(`${api}/posts?title=${from}`);
  const { posts } = (await response.json()) as { posts: { id: string }[] };
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const init = { method: 'PATCH', headers, body: JSON.stringify({ title: to }) };
  expect((await fetch(`${api}/posts/${posts[0]?.id}`, init)).status).to.equal(200);
}

/** How many posts of the API that the page calls have the title. */
async function totalOf(page: Page, title: string): Promise<number> {
  const api = new URL(page.url()).searchParams.get('api');
  const response = await fetch(`${api}/posts?title=${title}&count=exact`);
  return ((await response.json()) as { total: number }).total;
}

describe('in Chromium', function () {
  this.timeout(300_000);
  let browser: Browser;
  let pages: HttpServer;
  let listed: string;
  let server: Server;
  let api: string;
  const ports = new Map<string, number>();

  before(async function () {
    browser = (await launch()) ?? this.skip();
    // Two origins: 127.0.0.1 is listed, localhost is not.
    pages = createServer((_, response) =>
      response.end('<!doctype html><link rel="icon" href="data:,">'),
    );
    const port = await freePort();
    await new Promise<void>((listening) => pages.listen(port, 'localhost', listening));
    listed = `http://localhost:${port}`;
    for (const name of Object.keys(examples)) ports.set(name, await freePort());
    const origins = [listed, ...[...ports.values()].map((port) => `http://localhost:${port}`)];
    server = await startServer(
      ...['--store', 'memory:', ...origins.flatMap((origin) => ['--cors', origin])],
    );
    api = `${server.address}/api/v1`;
    await send('users', { name: 'Ada' });
    for (let number = 1; number <= 30; number++) await send('posts', { title: `Note ${number}` });
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

  /** Opens an address, uses what is there, and holds that nothing was wrong with it in silence. */
  async function visit(
    address: string,
    look: (typeof looks)[number] | undefined,
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(look);
    const wrong: string[] = [];
    const page = await context.newPage();
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => {
      // Chromium and react-admin tell of every 4xx; what the page makes of it is what counts.
      const refused = /status of 4\d\d|breaks a rule|changed since it was read/.test(
        message.text(),
      );
      if (message.type() === 'error' && !refused) wrong.push(message.text());
    });
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      const isHere = protocol === 'data:' || ['127.0.0.1', 'localhost'].includes(hostname);
      if (!isHere) wrong.push(`a request to ${hostname}`);
    });
    page.setDefaultTimeout(30_000);
    try {
      await page.goto(address, { waitUntil: 'networkidle' });
      await use(page);
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS !== undefined) {
        const name = `${address.replace(/\?.*/, '')} ${look?.colorScheme} ${look?.viewport.width}`;
        await page.screenshot({ path: join(SCREENSHOTS, `${name.replace(/\W+/g, '-')}.png`) });
      }
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (overflow > 0) wrong.push(`the page is ${overflow} px wider than the window`);
    } finally {
      await context.close();
    }
    expect(wrong).to.deep.equal([]);
  }

  for (const look of looks) {
    const title = `${look.colorScheme}, ${look.viewport.width} px wide`;
    it(`shows /, and tries an operation at /docs: ${title}`, async () => {
      await visit(server.address, look, (page) => page.getByText('It is ready').waitFor());
      await visit(`${server.address}/docs`, look, async (page) => {
        const operation = page.locator('.opblock', { hasText: 'A page of the users' });
        await operation.locator('.opblock-summary').click();
        await operation.getByRole('button', { name: 'Try it out' }).click();
        await operation.getByRole('button', { name: 'Execute' }).click();
        const response = operation.locator('.live-responses-table');
        await response.getByText('"name"').first().waitFor();
        await response.scrollIntoViewIfNeeded();
      });
    });
  }

  it('lets a page of a listed origin send every request and read every header and error', async () => {
    const seen: unknown[] = [];
    await visit(listed, undefined, async (page) => {
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

  it('keeps a page of an origin that is not listed from reading and from changing', async () => {
    const other = await browser.newPage();
    // Another port is another origin.
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

  it('runs the suite of stores', async () => {
    await visit(listed, undefined, async (page) => {
      await page.addScriptTag({ content: await bundledSuite() });
      const [count, failures] = JSON.parse(await page.evaluate<string>('bundle.run()'));
      expect(failures).to.deep.equal([]);
      expect(count).to.be.above(150);
    });
  });

  for (const [name, use] of Object.entries(examples)) {
    it(`runs examples/${name} on another origin than the API`, async () => {
      const port = ports.get(name);
      const command = ['start', '--', '--port', String(port), '--strictPort'];
      const ended = npm(command, { cwd: join(repository, 'examples', name) });
      const address = `http://localhost:${port}/?api=${api}`;
      for (;;) {
        const tried = await Promise.race([ended, fetch(address).catch(() => sleep(200))]);
        if (tried && 'output' in tried) throw new Error(`it has ended: ${tried.output}`);
        if (tried?.ok) break;
      }
      // The first visit has Vite bundle what the page imports, and load it again.
      await visit(address, looks[3], use);
      await visit(address, looks[0], (page) =>
        page
          .getByText(/^(Posts|Users)$/)
          .filter({ visible: true })
          .first()
          .waitFor(),
      );
    });
  }
});
