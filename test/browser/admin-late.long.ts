// `/admin` in Chromium where responses come late, or never: nothing is lost, and nothing is said that is not so.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { createKey, rostrum, type Server, startServer } from '../support/server.ts';
import { inChromium, visit } from './chromium.ts';

describe('/admin with late responses', function () {
  this.timeout(120_000);
  const given = inChromium();
  let store: string;
  let server: Server;

  before(async () => {
    store = `sqlite:${join(given.folder, 'rostrum.db')}`;
    server = await startServer('--store', store);
  });
  after(() => server?.stop());

  async function send(method: string, path: string, body?: object) {
    const init = { method, headers: { 'Content-Type': 'application/json' } };
    const url = `${server.address}/api/v1${path}`;
    const response = await fetch(url, { ...init, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as { id: string; title: string; authorId: string };
  }

  const admin = (use: (page: Page) => Promise<void>, address = server.address) =>
    visit(given.browser, `${address}/livez`, undefined, use);
  const open = (page: Page, path: string, address = server.address) =>
    page.goto(`${address}/admin#/${path}`);
  const title = (page: Page) => page.getByRole('textbox', { name: 'Title' });
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
  const told = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();

  /** Makes the response to the next such request wait until it is let go. */
  async function hold(page: Page, method: string, path: string) {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let isFirst = true;
    await page.route(
      ({ pathname, search }) => pathname === `/api/v1${path}` && !search.includes('count='),
      async (route: Route) => {
        if (route.request().method() !== method || !isFirst) return route.fallback();
        isFirst = false;
        const response = await route.fetch();
        reached.resolve();
        await released.promise;
        await route.fulfill({ response });
      },
    );
    return { reached: reached.promise, release: () => released.resolve() };
  }

  it('keeps what is typed while a save is under way', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Slow' });
      await open(page, `posts/${id}`);
      const put = await hold(page, 'PUT', `/posts/${id}`);
      await title(page).fill('Slow, saved');
      await save(page);
      await put.reached;
      await title(page).fill('Slow, saved and typed on');
      put.release();
      await told(page, 'Saved.');
      expect(await title(page).inputValue()).to.equal('Slow, saved and typed on');
      await save(page);
      await page.getByText('Version 3').waitFor();
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Slow, saved and typed on');
    }));

  it('says that it is saved where the response to a save was lost', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Unheard' });
      await open(page, `posts/${id}`);
      let isFirst = true;
      await page.route(`**/posts/${id}`, async (route) => {
        if (route.request().method() !== 'PUT' || !isFirst) return route.fallback();
        isFirst = false;
        await route.fetch();
        await route.fulfill({ status: 429, headers: { 'Retry-After': '0' }, body: '' });
      });
      await title(page).fill('Unheard, and saved');
      await save(page);
      await told(page, 'Saved.');
      expect(await page.getByRole('alert').count()).to.equal(0);
    }));

  it('opens what was asked for last, and leaves nobody where they are not', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Opened late' });
      const late = await hold(page, 'GET', `/posts/${id}`);
      await open(page, `posts/${id}`);
      await late.reached;
      await open(page, 'new/posts');
      await page.getByRole('heading', { name: 'New post' }).waitFor();
      await open(page, `posts/${id}`);
      await page.getByRole('heading', { name: 'Opened late' }).waitFor();
      await title(page).fill('Typed meanwhile');
      late.release();
      await page.waitForTimeout(300);
      expect(await title(page).inputValue()).to.equal('Typed meanwhile');

      const deleted = await hold(page, 'DELETE', `/posts/${id}`);
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await deleted.reached;
      page.on('dialog', (dialog) => dialog.accept());
      await open(page, 'users');
      await page.getByRole('heading', { name: 'Users' }).waitFor();
      deleted.release();
      await told(page, 'Deleted.');
      expect(page.url()).to.match(/#\/users$/);
    }));

  it('deletes nothing that somebody changes while it is asked for', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Deleted?' });
      await open(page, `posts/${id}`);
      await page.getByRole('button', { name: 'Delete…' }).click();
      await send('PATCH', `/posts/${id}`, { title: 'Changed, and better' });
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alert').getByText('Not deleted: somebody else changed').waitFor();
      expect(await title(page).inputValue()).to.equal('Changed, and better');
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Changed, and better');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await told(page, 'Deleted.');
    }));

  it('shows a list as it was read last', () =>
    admin(async (page) => {
      const late = await hold(page, 'GET', '/posts');
      await open(page, 'posts?find=Listed');
      await late.reached;
      await page.getByText('Loading…').waitFor();
      await send('POST', '/posts', { title: 'Listed since' });
      await page.waitForTimeout(1500);
      late.release();
      await page.getByRole('link', { name: 'Listed since' }).waitFor();
    }));

  it('leaves the author of a post alone, whatever users are named', () =>
    admin(async (page) => {
      const file = join(given.folder, 'users.jsonl');
      await writeFile(file, '{"id": "ada", "name": "Somebody"}\n');
      const made = await rostrum('import', file, '--as', 'users', '--store', store, '--keep-ids');
      expect(made.code, made.stderr).to.equal(0);
      await send('POST', '/users', { name: 'Ada' });
      const { id } = await send('POST', '/posts', { title: 'Of ada', authorId: 'ada' });
      await open(page, `posts/${id}`);
      await page.getByRole('combobox', { name: 'Author' }).and(page.locator('input')).waitFor();
      await page.waitForTimeout(500);
      await title(page).fill('Of ada still');
      await save(page);
      await told(page, 'Saved.');
      const saved = await send('GET', `/posts/${id}`);
      expect(saved).to.include({ title: 'Of ada still', authorId: 'ada' });
    }));

  it('takes a field where it is, and not among the others', () =>
    admin(async (page) => {
      await open(page, 'new/posts');
      await title(page).fill('Of the field');
      await page
        .getByRole('textbox', { name: 'Other custom fields' })
        .fill('{"title": "Of others"}');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('"title" has a field of its own.').waitFor();
    }));

  it('forgets a session with it: the names it met, and a key that is none', async () => {
    const keys = join(given.folder, 'keys');
    const reader = await createKey(keys, 'users:read,posts:write');
    const writer = await createKey(keys, 'posts:write');
    await send('POST', '/users', { name: 'Secret Name' });
    await using asked = await startServer('--store', store, '--auth-keys', keys);
    await admin(async (page) => {
      const enter = async (token: string) => {
        await page.getByLabel('Key or token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
      };
      await open(page, '', asked.address);
      await enter('nonsense');
      await page.getByRole('alert').getByText('The credentials are not valid.').waitFor();
      expect(await page.evaluate('sessionStorage.length')).to.equal(0);
      await enter(reader);
      await page.getByRole('heading', { name: 'Users' }).waitFor();
      await open(page, 'new/posts', asked.address);
      await page.getByRole('combobox', { name: 'Author' }).fill('Secret');
      await page.locator('option', { hasText: 'Secret Name' }).waitFor({ state: 'attached' });

      page.once('dialog', (dialog) => dialog.dismiss());
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'New post' }).waitFor();
      page.once('dialog', (dialog) => dialog.accept());
      await page.getByRole('button', { name: 'Sign out' }).click();
      await enter(writer);
      await page.getByRole('heading', { name: 'New post' }).waitFor();
      expect(await page.getByText('Secret Name').count()).to.equal(0);
      expect(await page.locator('option', { hasText: 'Secret Name' }).count()).to.equal(0);
    }, asked.address);
  });

  it('keeps a form whose key is withdrawn until there is another key', async () => {
    const keys = join(given.folder, 'more-keys');
    const scopes = 'posts:read:all,posts:write';
    const first = await createKey(keys, scopes);
    const second = await createKey(keys, scopes);
    await using asked = await startServer('--store', store, '--auth-keys', keys);
    await admin(async (page) => {
      await open(page, '', asked.address);
      await page.getByLabel('Key or token').fill(first);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'New post' }).click();
      await title(page).fill('Typed with the first key');
      const [, id = ''] = first.split('_');
      const revoked = await rostrum('key', 'revoke', id, '--auth-keys', keys);
      expect(revoked.code, revoked.stderr).to.equal(0);
      await page.waitForTimeout(1500);
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('What you typed is there again afterwards.').waitFor();
      await page.getByLabel('Key or token').fill(second);
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await title(page).inputValue()).to.equal('Typed with the first key');
      await page.getByRole('button', { name: 'Create' }).click();
      await told(page, 'Created.');
    }, asked.address);
  });
});
