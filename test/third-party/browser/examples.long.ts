// Runs the front-end examples in Chromium, with another origin than the API.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../support/free-port.ts';
import { npm } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';
import { rostrum, type Server, startServer } from '../../support/server.ts';
import { launch, looks, visit } from './chromium.ts';

/** Locates the row of a post. */
const row = (page: Page, title: string) =>
  page.locator('li, tr').filter({ hasText: new RegExp(`^${title}`) });

/** Sends a request to the API as another client. */
type Call = (method: string, path: string, body?: object) => Promise<unknown>;

/** Renames a post and deletes it with the buttons in its row. */
async function renameAndDelete(page: Page, call: Call): Promise<void> {
  page.once('dialog', async (dialog) => {
    await renameElsewhere(call, 'Created', 'Taken');
    await dialog.accept('Lost');
  });
  await row(page, 'Created').getByRole('button', { name: 'Rename' }).click();
  await page.getByText('Somebody else changed this post').waitFor();
  await row(page, 'Taken').waitFor();
  page.once('dialog', (dialog) => dialog.accept('Renamed'));
  await row(page, 'Taken').getByRole('button', { name: 'Rename' }).click();
  await row(page, 'Renamed').waitFor();
  expect(await totalOf(call, 'Renamed')).to.equal(1);
  await row(page, 'Renamed').getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Renamed').waitFor({ state: 'detached' });
}

/** Each provokes an error, creates a post titled Created, renames it to Renamed, and deletes it. */
const examples: Record<string, (page: Page, call: Call, key: string) => Promise<void>> = {
  async 'plain-fetch'(page, call) {
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
    await renameAndDelete(page, call);
  },

  async refine(page, call) {
    await row(page, 'Note 30').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await row(page, 'Note 20').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('searchbox').fill('note 1');
    await row(page, 'Note 19').getByText('Ada').waitFor();
    await row(page, 'Note 30').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('');
    await row(page, 'Note 30').waitFor();

    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('label', { hasText: 'Title' }).locator('small:not(:empty)').waitFor();
    await page.getByRole('textbox', { name: 'Title' }).fill('Created');
    await page.getByLabel('Author').selectOption('Ada');
    await page.getByRole('button', { name: 'Create' }).click();
    await renameAndDelete(page, call);
  },

  async 'react-admin'(page, call, key) {
    const keyInput = page.getByLabel('Key or token');
    await keyInput.fill('rk_unknown');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The server does not know this key.').waitFor();
    await signIn(page, key);
    await page.getByRole('button', { name: 'Profile' }).getByText('Ada').waitFor();
    await page.getByLabel('Name begins with').fill('gr');
    await page.getByText('grace@example.com').waitFor();
    await page.getByText('ada@example.com').waitFor({ state: 'detached' });

    await page.getByRole('menuitem', { name: 'Posts' }).click();
    await page.getByText('Note 30', { exact: true }).waitFor();
    await row(page, 'Note 30').getByText('Ada').waitFor();
    await page.getByLabel('Title begins with').fill('note 2');
    await page.getByText('Note 30', { exact: true }).waitFor({ state: 'detached' });
    await page.getByText('Note 29', { exact: true }).waitFor();
    await page.getByLabel('Title begins with').fill('');
    for (const [state, title, other] of [
      ['Draft', 'A draft', 'Note 30'],
      ['Scheduled', 'To come', 'A draft'],
      ['Public', 'Note 30', 'To come'],
    ] as const) {
      await page.getByRole('combobox', { name: 'State' }).click();
      await page.getByRole('option', { name: state }).click();
      await row(page, title).getByText(state, { exact: true }).waitFor();
      await row(page, other).waitFor({ state: 'detached' });
    }
    await page.getByRole('combobox', { name: 'State' }).click();
    await page.getByRole('option').first().click();
    await page.getByText('1-10 of 32').waitFor();
    await page.getByLabel('Tag').fill('third');
    await page.getByText('1-10 of 10').waitFor();
    await page.getByLabel('Tag').fill('');
    await page.getByText('1-10 of 32').waitFor();
    await page.getByRole('link', { name: 'Create' }).click();
    const title = page.getByRole('textbox', { name: 'Title', exact: true });
    await title.fill(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.MuiFormHelperText-root.Mui-error').waitFor();
    await title.fill('Created');
    for (const tag of ['first', 'a, b']) {
      await page.getByRole('combobox', { name: 'Tags' }).fill(tag);
      await page.getByRole('combobox', { name: 'Tags' }).press('Enter');
    }
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Created', { exact: true }).click();
    await title.fill('Lost');
    await renameElsewhere(call, 'Created', 'Taken');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else changed this record').waitFor();
    await page.waitForFunction("document.querySelector('input[name=title]').value === 'Taken'");
    await title.fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Renamed', { exact: true }).click();
    expect(await totalOf(call, 'Renamed&tags=a,+b&tags=first')).to.equal(1);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Note 30', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Go to page 2' }).click();
    await page.getByText('Note 20', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Profile' }).click();
    await page.getByRole('menuitem', { name: 'Logout' }).click();
    await keyInput.waitFor();
  },
};

/** Renames a post as another client. */
async function renameElsewhere(call: Call, from: string, to: string): Promise<void> {
  const { posts } = (await call('GET', `posts?title=${from}`)) as { posts: { id: string }[] };
  await call('PATCH', `posts/${posts[0]?.id}`, { title: to });
}

/** Returns the number of posts with this title. */
async function totalOf(call: Call, title: string): Promise<number> {
  return ((await call('GET', `posts?title=${title}&count=exact`)) as { total: number }).total;
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key or token').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe('the examples in Chromium', function () {
  this.timeout(300_000);
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-'));

  before(async function () {
    browser = (await launch()) ?? this.skip();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  for (const [name, use] of Object.entries(examples)) {
    it(`examples/${name} works on another origin than the API`, async () => {
      const port = await freePort();
      const page = `http://localhost:${port}`;
      const keys = join(folder, `${name}.keys`);
      const isWithKey = name === 'react-admin';
      const scopes = 'users:read,users:write,posts:read,posts:write';
      const made = await rostrum(
        ...['key', 'create', '--auth-keys', keys, '--scopes', scopes, '--subject', 'ada'],
      );
      const key = made.stdout.trim();
      const access = isWithKey ? ['--auth-keys', keys] : [];
      await using server = await startServer(
        ...['--store', 'memory:', '--field', 'posts.tags:text[]', '--cors', page, ...access],
      );
      const call = callOf(server, key);
      await fill(call);
      const command = ['start', '--', '--port', String(port), '--strictPort'];
      const ended = npm(command, { cwd: join(repository, 'examples', name) });
      const address = `${page}/?api=${server.address}/api/v1`;
      await untilServed(address, ended);
      // During the first visit, Vite bundles the imports and reloads the page.
      await visit(browser, address, looks[3], (page) => use(page, call, key));
      await visit(browser, address, looks[0], async (page) => {
        if (isWithKey) await signIn(page, key);
        const headings = page.getByText(/^(Posts|Users)$/);
        await headings.filter({ visible: true }).first().waitFor();
      });
    });
  }
});

/** Waits until the page is served. Throws with the output if `npm start` exits. */
async function untilServed(address: string, ended: ReturnType<typeof npm>): Promise<void> {
  for (;;) {
    const tried = await Promise.race([ended, fetch(address).catch(() => sleep(200))]);
    if (tried && 'output' in tried) throw new Error(`npm start exited: ${tried.output}`);
    if (tried?.ok) return;
  }
}

function callOf(server: Server, key: string): Call {
  return async (method, path, body) => {
    const response = await fetch(`${server.address}/api/v1/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok, `${method} ${path}`).to.equal(true);
    return response.json();
  };
}

/** Creates users, and posts in every state; the last ones are Note 1 to Note 30. */
async function fill(call: Call): Promise<void> {
  const user = { name: 'Ada', email: 'ada@example.com' };
  // Servers without keys ignore the key and have no caller, so PUT fails there.
  const made = call('PUT', 'users/me', user).catch(() => call('POST', 'users', user));
  const { id: authorId } = (await made) as { id: string };
  await call('POST', 'users', { name: 'Grace', email: 'grace@example.com' });
  await call('POST', 'posts', { title: 'A draft', publishedAt: null });
  await call('POST', 'posts', { title: 'To come', publishedAt: '2999-01-01T00:00:00Z' });
  for (let number = 1; number <= 30; number++) {
    const tags = number % 3 === 0 ? ['third'] : [];
    await call('POST', 'posts', { title: `Note ${number}`, authorId, tags });
  }
}
