// Tests `/admin` in Chromium with declared custom fields, unusual values, downloads, and the caller's own user.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createKey, rostrum, type Server, sendJson, startServer } from '../../support/server.ts';
import { inChromium, looks, violationsIn, watch } from './chromium.ts';

interface Body extends Record<string, unknown> {
  readonly id: string;
}

describe('/admin with custom fields and unusual values', function () {
  this.timeout(120_000);
  const given = inChromium();
  let store: string;
  let server: Server;

  before(async () => {
    store = `sqlite:${join(given.folder, 'rostrum.db')}`;
    const declared = ['slug:text:unique', 'views:number', 'hot:boolean', 'tags:text[]'];
    server = await startServer(
      ...['--store', store, ...declared.flatMap((one) => ['--field', `posts.${one}`])],
    );
  });
  after(() => server?.stop());

  const send = async (method: string, path: string, body?: object) =>
    (await sendJson<Body>(server.address, method, path, body)).body;

  async function admin(
    hash: string,
    use: (page: Page) => Promise<void>,
    { address = server.address, ...options }: BrowserContextOptions & { address?: string } = {},
  ): Promise<void> {
    const context = await given.browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const wrong = watch(page);
    try {
      await page.goto(`${address}/admin${hash}`);
      await use(page);
    } finally {
      await context.close();
    }
    expect(wrong).to.deep.equal([]);
  }

  const save = (page: Page, name = 'Save') => page.getByRole('button', { name }).click();
  const told = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const titles = async (page: Page) => page.locator('tbody th').allTextContents();
  const search = (page: Page) => page.getByRole('button', { name: 'Search' }).click();
  const count = (page: Page, text: string) => page.locator('#count').getByText(text).waitFor();

  async function download(page: Page): Promise<string> {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).to.match(/^(?:users|posts)\.csv$/);
    return readFile(await file.path(), 'utf8');
  }

  async function signIn(page: Page, key: string): Promise<void> {
    await page.getByLabel('Key or token').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  it('filters and sorts by declared fields', async () => {
    const all = [
      { title: 'Declared A', slug: 'decl-a', views: 9, hot: true, tags: ['x', 'y'] },
      { title: 'Declared B', slug: 'decl-b', views: 10, hot: false, tags: ['x'] },
      { title: 'Declared C', slug: 'other-c', views: 100, tags: ['y'] },
    ];
    for (const one of all) await send('POST', '/posts', one);
    await admin('#/posts?title[startsWith]=Declared', async (page) => {
      await count(page, '3 posts');
      await page.getByRole('link', { name: 'Views' }).click();
      await page.locator('th[aria-sort=ascending]', { hasText: 'Views' }).waitFor();
      await page.getByRole('row', { name: /Declared C/ }).waitFor();
      expect(await titles(page)).to.deep.equal(['Declared A', 'Declared B', 'Declared C']);
      await page.getByRole('link', { name: 'Views' }).click();
      await page.locator('th[aria-sort=descending]', { hasText: 'Views' }).waitFor();
      await page.getByRole('row', { name: /Declared C/ }).waitFor();
      expect(await titles(page)).to.deep.equal(['Declared C', 'Declared B', 'Declared A']);
      expect(await page.getByRole('link', { name: 'Tags' }).count()).to.equal(0);
      await page.getByRole('cell', { name: 'x, y' }).waitFor();

      await page.getByText('Filters').click();
      await page.getByLabel('Views from').fill('10');
      await page.getByLabel('Views to').fill('99');
      await search(page);
      await count(page, '1 post');
      expect(await titles(page)).to.deep.equal(['Declared B']);
      await page.getByLabel('Views from').fill('');
      await page.getByLabel('Views to').fill('');
      await page.getByLabel('Slug starts with').fill('decl');
      await page.getByLabel('Hot').selectOption('Yes');
      await search(page);
      await count(page, '1 post');
      expect(await titles(page)).to.deep.equal(['Declared A']);
      await page.getByLabel('Slug starts with').fill('');
      await page.getByLabel('Hot').selectOption('Any');
      await page.getByLabel('Tags contain').fill('x');
      await search(page);
      await count(page, '2 posts');
      await page.getByLabel('and', { exact: true }).fill('y');
      await search(page);
      await count(page, '1 post');
      expect(await titles(page)).to.deep.equal(['Declared A']);
    });
  });

  it('pages through published posts', async () => {
    for (let n = 0; n < 26; n++) await send('POST', '/posts', { title: `Out ${n}` });
    await admin('#/posts?title[startsWith]=Out', async (page) => {
      await page.getByText('Filters').click();
      await page.getByLabel('Publication').selectOption('Published');
      await search(page);
      await page.getByText('Out 25').waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText('Page 2', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Out 0' }).waitFor();
      expect(await titles(page)).to.deep.equal(['Out 0']);
      await page.getByRole('link', { name: 'Back' }).click();
      await page.getByText('Out 25').waitFor();
    });
  });

  it('shows a duplicate value as an error at its field', async () => {
    await send('POST', '/posts', { title: 'First', slug: 'taken' });
    await admin('#/new/posts', async (page) => {
      await page.getByRole('textbox', { name: 'Title' }).fill('Second');
      await page.getByRole('textbox', { name: 'Slug' }).fill('taken');
      await save(page, 'Create');
      await page.locator('#field-slug-error').waitFor();
      expect(await page.evaluate('document.activeElement.id')).to.equal('field-slug');
      await page.getByRole('textbox', { name: 'Slug' }).fill('free');
      await page.getByRole('textbox', { name: 'Views' }).fill('7');
      await save(page, 'Create');
      await told(page, 'Created.');
      const { posts } = await send('GET', '/posts?slug=free');
      expect((posts as Body[])[0]).to.include({ title: 'Second', views: 7 });
    });
  });

  const tagsIn = (page: Page) => page.locator('.chips span').allTextContents();
  const focused = (page: Page) => page.locator(':focus');

  it('adds and removes the elements of a list by keyboard, and says so', async () => {
    await admin('#/new/posts', async (page) => {
      await page.getByRole('textbox', { name: 'Title' }).fill('By keyboard');
      await page.getByRole('textbox', { name: 'Tags' }).focus();
      const { keyboard } = page;
      await keyboard.type('news');
      await keyboard.press('Enter');
      await keyboard.type('b,news,');
      await keyboard.insertText('c, d');
      expect(await tagsIn(page)).to.deep.equal(['news', 'b', 'news', 'c', 'd']);
      expect(await page.getByRole('status').textContent()).to.equal('Added c, d. Tags: 5');
      await keyboard.press('Backspace');
      expect(await tagsIn(page)).to.deep.equal(['news', 'b', 'news', 'c']);
      expect(await page.getByRole('status').textContent()).to.equal('Removed d. Tags: 4');
      await keyboard.type('x');
      await keyboard.press('Backspace');
      expect(await tagsIn(page)).to.have.length(4);
      for (let n = 0; n < 4; n++) await keyboard.press('Shift+Tab');
      await keyboard.press('Enter');
      expect(await tagsIn(page)).to.deep.equal(['b', 'news', 'c']);
      expect(await focused(page).getAttribute('aria-label')).to.equal('Remove b');
      await keyboard.press('Tab');
      await keyboard.press('Tab');
      await keyboard.press('Space');
      expect(await focused(page).getAttribute('aria-label')).to.equal('Remove news');
      await keyboard.press('Enter');
      await keyboard.press('Enter');
      expect(await tagsIn(page)).to.deep.equal([]);
      expect(await focused(page).getAttribute('id')).to.equal('field-tags');
      await keyboard.type('added, by saving');
      await save(page, 'Create');
      await told(page, 'Created.');
      expect(await tagsIn(page)).to.deep.equal(['added', 'by saving']);
      await page.getByRole('textbox', { name: 'Tags' }).focus();
      await keyboard.press('Backspace');
      await keyboard.press('Backspace');
      await save(page);
      await told(page, 'Saved.');
      const { posts } = await send('GET', '/posts?title=By%20keyboard');
      expect((posts as Body[])[0]).not.to.have.property('tags');
    });
  });

  it('removes elements by touch, with targets of 44 px', async () => {
    const { id } = await send('POST', '/posts', { title: 'By touch', tags: ['a', 'b', 'b'] });
    const phone = { viewport: { width: 390, height: 800 }, hasTouch: true };
    await admin(
      `#/posts/${id}`,
      async (page) => {
        const remove = page.getByRole('button', { name: 'Remove b' }).last();
        expect(await remove.boundingBox()).to.include({ width: 44, height: 44 });
        await remove.tap();
        expect(await tagsIn(page)).to.deep.equal(['a', 'b']);
        expect(await focused(page).getAttribute('aria-label')).to.equal('Remove b');
        await page.getByRole('button', { name: 'Save' }).tap();
        await told(page, 'Saved.');
      },
      phone,
    );
    expect((await send('GET', `/posts/${id}`)).tags).to.deep.equal(['a', 'b']);
  });

  it('tells a field that is not set from one that is No', async () => {
    const { id } = await send('POST', '/posts', { title: 'Hot?' });
    await admin(`#/posts/${id}`, async (page) => {
      const hot = page.getByRole('checkbox', { name: 'Hot', exact: true });
      const isMixed = () => hot.evaluate((box: { indeterminate: boolean }) => box.indeterminate);
      const expectSaved = async (version: number, value: boolean | undefined) => {
        await save(page);
        await told(page, 'Saved.');
        await page.getByText(`Version ${version}`).waitFor();
        expect((await send('GET', `/posts/${id}`)).hot).to.equal(value);
        expect([await hot.isChecked(), await isMixed()]).to.deep.equal([
          value === true,
          value === undefined,
        ]);
      };
      expect(await isMixed()).to.equal(true);
      await hot.focus();
      await page.keyboard.press('Space');
      await expectSaved(2, true);
      await hot.uncheck();
      await expectSaved(3, false);
      await page.getByRole('button', { name: 'Clear Hot' }).click();
      await expectSaved(4, undefined);
    });
  });

  it('shows the list and the choice of someone else in words', async () => {
    const { id } = await send('POST', '/posts', { title: 'Both', tags: ['a'] });
    await admin(`#/posts/${id}`, async (page) => {
      await page.getByRole('textbox', { name: 'Tags' }).fill('mine');
      await page.getByRole('checkbox', { name: 'Hot', exact: true }).check();
      await send('PATCH', `/posts/${id}`, { tags: ['a', 'theirs'], hot: false });
      await page.getByLabel('Tags, theirs').getByText('a, theirs', { exact: true }).waitFor();
      await page.getByLabel('Hot, theirs').getByText('No', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Keep mine' }).first().click();
      await page.getByRole('button', { name: 'Keep mine' }).first().click();
      await save(page);
      await told(page, 'Saved.');
    });
    expect(await send('GET', `/posts/${id}`)).to.deep.include({ tags: ['a', 'mine'], hot: true });
  });

  for (const look of looks.slice(0, 2)) {
    it(`shows a wrong value at its field, ${look.viewport.width} px wide`, async () => {
      const { id } = await send('POST', '/posts', { title: 'Wrong', tags: ['a', 'x'.repeat(200)] });
      const use = async (page: Page) => {
        const tags = page.getByRole('textbox', { name: 'Tags' });
        await tags.fill(`${'b'.repeat(201)},`);
        await save(page);
        await page.locator('#field-tags-error').waitFor();
        expect(await page.locator('#field-tags-error').textContent()).to.equal(
          `“${'b'.repeat(40)}…”: An element of "tags" must have at most 200 characters.`,
        );
        expect(await focused(page).getAttribute('id')).to.equal('field-tags');
        expect(await violationsIn(page)).to.deep.equal([]);
        await tags.press('Backspace');
        await tags.fill('c,'.repeat(63));
        await page.getByRole('textbox', { name: 'Views' }).fill('12');
        await save(page);
        await page.getByText('The field "tags" must have at most 64 elements.').waitFor();
        await tags.press('Backspace');
        await page.getByRole('textbox', { name: 'Views' }).fill('many');
        await save(page);
        await page.locator('#field-views-error').getByText('This is not a number.').waitFor();
        await page.getByRole('textbox', { name: 'Views' }).fill('12.5');
        await save(page);
        await told(page, 'Saved.');
      };
      await admin(`#/posts/${id}`, use, look);
      const { tags, views } = await send('GET', `/posts/${id}`);
      expect([(tags as string[]).length, views]).to.deep.equal([64, 12.5]);
    });
  }

  it('preserves times that a datetime input cannot show', async () => {
    const times = [
      '1925-07-01T12:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
      '2026-10-25T01:30:15.500Z', // In an hour that a clock change repeats.
    ];
    for (const publishedAt of times) {
      const { id } = await send('POST', '/posts', { title: 'Odd time', publishedAt });
      await admin(
        `#/posts/${id}`,
        async (page) => {
          await page.getByRole('textbox', { name: 'Title' }).fill('Odd time, edited');
          await save(page);
          await told(page, 'Saved.');
        },
        { timezoneId: 'Europe/Berlin' },
      );
      const saved = await send('GET', `/posts/${id}`);
      expect(saved).to.include({ title: 'Odd time, edited', publishedAt });
    }
  });

  it('filters posts by author with the beginning of a name', async () => {
    const { id } = await send('POST', '/users', { name: 'Quentin Rare' });
    for (const name of ['Twin Peak', 'Twin Otter']) await send('POST', '/users', { name });
    await send('POST', '/posts', { title: 'Of the rare one', authorId: id });
    for (let n = 0; n < 26; n++) await send('POST', '/posts', { title: `Later ${n}` });
    await admin('#/posts', async (page) => {
      await page.getByText('Later 25').waitFor();
      await page.getByText('Filters').click();
      const author = page.getByRole('combobox', { name: 'Author' });
      await author.fill('quent');
      await search(page);
      await count(page, '1 post');
      expect(await titles(page)).to.deep.equal(['Of the rare one']);
      expect(await author.inputValue()).to.equal('Quentin Rare');
      await author.fill('twin');
      await search(page);
      await page.getByText('Choose a user from the list.').waitFor();
      expect(await violationsIn(page)).to.deep.equal([]);
      await author.fill('nobody');
      await search(page);
      await page.getByText('Later 25').waitFor();
      expect(page.url()).to.match(/authorId=none$/);
      await author.fill('');
      await search(page);
      await page.getByText('Later 25').waitFor();
      expect(page.url()).to.match(/#\/posts$/);
    });
  });

  it('opens a record with an invisible name', async () => {
    const { id } = await send('POST', '/users', { name: '\u2800' });
    await admin('#/users', async (page) => {
      await page.getByRole('link', { name: id }).click();
      await page.getByRole('heading', { name: id }).waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('Seen');
      await save(page);
      await page.getByRole('heading', { name: 'Seen' }).waitFor();
    });
  });

  it('keeps stacked combining marks inside their table cell', async () => {
    await send('POST', '/posts', { title: 'Marked, above' });
    const { id } = await send('POST', '/posts', { title: 'Marked o' });
    await admin('#/posts?title[startsWith]=Marked&sort=-title', async (page) => {
      const above = page.getByRole('row', { name: 'Marked, above' });
      await above.waitFor();
      const before = await above.screenshot();
      await send('PATCH', `/posts/${id}`, { title: `Marked o${'\u0301'.repeat(80)}` });
      await page.getByText('\u0301\u0301\u0301').waitFor();
      expect((await above.screenshot()).equals(before)).to.equal(true);
    });
  });

  it('highlights and focuses “Cancel” in the deletion dialog', async () => {
    const { id } = await send('POST', '/users', { name: 'To stay' });
    await send('POST', '/posts', { title: 'To stay', authorId: id });
    await admin(`#/users/${id}`, async (page) => {
      await page.getByRole('link', { name: '1 post of this user' }).waitFor();
      await page.getByRole('button', { name: 'Delete…' }).click();
      const colours = await page.evaluate<string[]>(
        "[...document.querySelectorAll('dialog button')].map((one) => getComputedStyle(one).backgroundColor)",
      );
      const [cancel, keep, withPosts] = colours;
      expect(keep).to.equal(withPosts);
      expect(cancel).not.to.equal(keep);
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Cancel');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
    expect(await send('GET', `/users/${id}`)).to.include({ name: 'To stay' });
  });

  it('downloads a list as CSV, with formulas escaped', async () => {
    const { id } = await send('POST', '/users', { name: 'Author of many' });
    await send('POST', '/posts', { title: 'Another', authorId: id });
    await send('POST', '/posts', { title: '=1+1', views: -2, colour: 'red', authorId: id });
    await admin(`#/posts?authorId=${id}`, async (page) => {
      const [head = '', first, ...rest] = (await download(page)).split('\r\n');
      expect(head).to.match(/^\uFEFFid,title,body,authorId,publishedAt,/);
      expect(head).to.contain('views,colour');
      expect(first).to.contain(",'=1+1,").and.contain(',-2,red,');
      expect(rest).to.have.length(2); // The other post, and the empty string after the last line break.
    });
  });

  it('downloads a list longer than a page of the API', async () => {
    const seeded = await rostrum('seed', '--store', store, '--users', '1100', '--posts', '0');
    expect(seeded.code, seeded.stderr).to.equal(0);
    await admin('#/users', async (page) => {
      await page.getByRole('link', { name: 'Next' }).waitFor();
      const ids = (await download(page)).match(/^[a-z\d]+-\d+,/gm);
      expect(new Set(ids).size).to.be.above(1099);
      await page.getByRole('button', { name: 'Download CSV' }).waitFor();
    });
  });

  /** Starts another server on the same store and signs in with a key. */
  async function signedIn(
    keyFile: string,
    key: readonly [scopes: string, ...args: string[]],
    use: (page: Page, asked: { readonly address: string; readonly key: string }) => Promise<void>,
  ): Promise<void> {
    const keys = join(given.folder, keyFile);
    const token = await createKey(keys, ...key);
    await using asked = await startServer('--store', store, '--auth-keys', keys);
    const signInAndUse = async (page: Page) => {
      await signIn(page, token);
      await use(page, { address: asked.address, key: token });
    };
    await admin('', signInAndUse, { address: asked.address });
  }

  it('creates the caller’s own user and shows its name', async () => {
    const scopes = 'posts:read,posts:write:own,users:write:own';
    const key = [scopes, '--subject', 'newcomer', '--name', 'Laptop'] as const;
    await signedIn('own-keys', key, async (page) => {
      await page.locator('.who').getByText('Laptop').waitFor();
      await page.getByRole('link', { name: 'My account' }).click();
      await page.getByText('You have no user yet.').waitFor();
      expect(await violationsIn(page)).to.deep.equal([]);
      await save(page, 'Create');
      await page.locator('#field-name-error').waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('New Comer');
      await save(page, 'Create');
      await told(page, 'Created.');
      await page.locator('.who').getByText('New Comer').waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('New Comer Jr.');
      await save(page);
      await page.locator('.who').getByText('New Comer Jr.').waitFor();
    });
    expect(await send('GET', '/users/newcomer')).to.include({ name: 'New Comer Jr.' });
  });

  it('does not overwrite the caller’s own user if another tab created it', async () => {
    const racer = ['users:write:own', '--subject', 'racer'] as const;
    await signedIn('racing-keys', racer, async (page, { address, key }) => {
      await page.getByText('You have no user yet.').waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('Typed here');
      const made = await fetch(`${address}/api/v1/users/me`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
        body: JSON.stringify({ name: 'Created there' }),
      });
      expect(made.status).to.equal(201);
      await save(page, 'Create');
      await page.getByLabel('Name, theirs').getByText('Created there').waitFor();
      await page.getByRole('button', { name: 'Keep mine' }).click();
      await save(page);
      await told(page, 'Saved.');
    });
    expect(await send('GET', '/users/racer')).to.include({ name: 'Typed here' });
  });

  it('shows the name of a key without a user', async () => {
    const named = ['posts:read', '--name', 'Nightly export'] as const;
    await signedIn('named-keys', named, async (page) => {
      await page.locator('.who').getByText('Nightly export').waitFor();
      expect(await page.locator('.who').textContent()).not.to.contain('key:');
    });
  });

  for (const look of looks) {
    it(`has no accessibility violations: ${look.colorScheme}, ${look.viewport.width} px wide`, async () => {
      const { id } = await send('POST', '/posts', { title: 'Looked at', views: 1, tags: ['x'] });
      const use = async (page: Page) => {
        for (const hash of ['#/posts?tags=x&sort=-views', '#/new/posts', `#/posts/${id}`]) {
          await page.goto(`${server.address}/admin${hash}`);
          await page.locator('tbody tr, form.record').first().waitFor();
          expect(await violationsIn(page), hash).to.deep.equal([]);
          const overflow = await page.evaluate<number>(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect(overflow, hash).to.be.at.most(0);
        }
        await page.getByRole('button', { name: 'Delete…' }).click();
        expect(await violationsIn(page)).to.deep.equal([]);
      };
      await admin('', use, look);
    });
  }
});
