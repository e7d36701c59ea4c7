// Tests all features of `/admin` in Chromium, on SQLite and MongoDB.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { sharedServer } from '../../support/mongod/shared.ts';
import { createKey, rostrum, type Server, sendJson, startServer } from '../../support/server.ts';
import { inChromium, looks, violationsIn, watch } from './chromium.ts';

/** Members of records, lists and errors in responses. */
interface Body extends Record<string, unknown> {
  readonly id: string;
  readonly publishedAt: string | null;
  readonly users: readonly Body[];
  readonly posts: readonly Body[];
}

const postSchema = {
  properties: {
    section: { type: 'string', enum: ['news', 'essays'] },
    views: { type: 'integer', minimum: 0 },
    pinned: { type: 'boolean' },
    scores: { type: 'array', items: { type: 'integer' } },
  },
};

const stores: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  SQLite: async (folder) => `sqlite:${join(folder, 'rostrum.db')}`,
  MongoDB: async () => (await sharedServer()).url(`admin-${process.pid}`),
};

for (const [name, urlOf] of Object.entries(stores)) {
  describe(`/admin in Chromium (${name})`, function () {
    this.timeout(300_000);
    const given = inChromium();
    let store: string;
    let schema: string;
    let server: Server;
    let wrong: string[];

    before(async () => {
      store = await urlOf(given.folder);
      schema = join(given.folder, 'posts.json');
      await writeFile(schema, JSON.stringify(postSchema));
      server = await startServer(
        ...['--store', store, '--post-schema', schema, '--field', 'posts.section:text'],
      );
    });
    beforeEach(() => {
      wrong = [];
    });
    afterEach(() => {
      expect(wrong).to.deep.equal([]);
    });
    after(() => server?.stop());

    async function open(
      hash: string,
      options: BrowserContextOptions = {},
      address = server.address,
      prepare?: (page: Page) => Promise<unknown>,
    ): Promise<Page> {
      const context = await given.browser.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      watch(page, wrong);
      await prepare?.(page);
      await page.goto(`${address}/admin${hash}`);
      return page;
    }

    const send = (method: string, path: string, body?: object) =>
      sendJson<Body>(server.address, method, path, body);

    async function make(path: string, body: object) {
      const made = await send('POST', path, body);
      expect(made.status).to.equal(201);
      return made.body;
    }

    /** Blocks events, so that a tab notices other changes only when it saves. */
    const blockEvents = async (page: Page) => page.route(/events\?.*after=/, () => {});
    const save = (page: Page, name = 'Save') => page.getByRole('button', { name }).click();
    const told = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();

    it('creates, shows and edits a user, with errors shown at their fields', async () => {
      const page = await open('#/new/users');
      await save(page, 'Create');
      await page.getByText('Not saved: something is wrong in a field.').waitFor();
      const nameField = page.getByRole('textbox', { name: 'Name' });
      expect(await nameField.getAttribute('aria-invalid')).to.equal('true');
      expect(await page.evaluate('document.activeElement.id')).to.equal('field-name');
      await nameField.fill('Zora Neale');
      await page.getByRole('textbox', { name: 'Email address' }).fill('nowhere');
      await page
        .getByRole('textbox', { name: 'Other custom fields' })
        .fill('{"town": "Eatonville"}');
      await save(page, 'Create');
      await page.locator('#field-email-error').waitFor();
      await page.getByRole('textbox', { name: 'Email address' }).fill('zora@example.com');
      await save(page, 'Create');
      await told(page, 'Created.');
      await page.getByRole('heading', { name: 'Zora Neale' }).waitFor();
      await page.getByRole('textbox', { name: 'Name' }).fill('Zora Neale Hurston');
      await save(page);
      await told(page, 'Saved.');
      const { body } = await send('GET', '/users?email=zora@example.com');
      expect(body.users).to.have.length(1);
      expect(body.users[0]).to.include({ name: 'Zora Neale Hurston', town: 'Eatonville' });
      await page.context().close();
    });

    it('shows changes by others immediately', async () => {
      const page = await open('#/users?name[startsWith]=Nella');
      await page.getByText('No users match.').waitFor();
      const { id } = await make('/users', { name: 'Nella Larsen' });
      await page.getByRole('link', { name: 'Nella Larsen' }).waitFor();
      await send('PATCH', `/users/${id}`, { name: 'Nella Imes' });
      await page.getByRole('link', { name: 'Nella Imes' }).waitFor();
      await send('DELETE', `/users/${id}`);
      await page.getByText('No users match.').waitFor();
      await page.context().close();
    });

    it('edits custom fields of the schema, and drafts, publishes and schedules posts', async () => {
      const page = await open('#/new/posts');
      await page.getByRole('textbox', { name: 'Title' }).fill('Of pages');
      await page.getByLabel('Publication').selectOption('Draft');
      await page.getByLabel('Section').selectOption('essays');
      await page.getByLabel('Pinned').selectOption('Yes');
      await page.getByRole('textbox', { name: 'Views' }).fill('-1');
      await page.getByRole('textbox', { name: 'Scores' }).fill('["one", 2]');
      await save(page, 'Create');
      await page.locator('#field-views-error').waitFor();
      await page.locator('#field-scores-error').waitFor();
      await page.getByRole('textbox', { name: 'Views' }).fill('12');
      await page.getByRole('textbox', { name: 'Scores' }).fill('["one", ');
      await save(page, 'Create');
      await page.getByText('This is not JSON').waitFor();
      await page.getByRole('textbox', { name: 'Scores' }).fill('[1]');
      await save(page, 'Create');
      await told(page, 'Created.');
      const find = async () => (await send('GET', '/posts?title=Of%20pages')).body.posts[0] as Body;
      expect(await find()).to.deep.include({
        ...{ publishedAt: null, section: 'essays', views: 12, pinned: true, scores: [1] },
      });
      await page.getByLabel('Publication').selectOption('Publish now');
      await save(page);
      await page.getByText('Version 2').waitFor();
      const published = await find();
      expect(Date.now() - Date.parse(published.publishedAt ?? '')).to.be.within(-5000, 60_000);
      expect(published).to.deep.include({ section: 'essays', views: 12, scores: [1] });
      await page.getByLabel('Time of publication').fill('2031-05-06T07:08');
      await page.getByLabel('Section').selectOption('Not set');
      await save(page);
      await page.getByText('Version 3').waitFor();
      const scheduled = await find();
      expect(scheduled.publishedAt).to.match(/^2031-05-0/);
      expect(scheduled).not.to.have.property('section');
      await page.context().close();
    });

    it('shows conflicting versions of two tabs side by side, and saves the chosen one', async () => {
      for (const hasEvents of [true, false]) {
        const { id } = await make('/posts', { title: 'Both', body: 'As it was', note: 1 });
        const first = await open(`#/posts/${id}`);
        const second = await open(
          `#/posts/${id}`,
          {},
          server.address,
          hasEvents ? undefined : blockEvents,
        );
        await first.getByRole('textbox', { name: 'Title' }).fill('By the first');
        await first.getByRole('textbox', { name: 'Other custom fields' }).fill('{"note": 2}');
        await second.getByRole('textbox', { name: 'Title' }).fill('By the second');
        await second.getByRole('textbox', { name: 'Body' }).fill('Of the second');
        await save(first);
        await told(first, 'Saved.');
        if (!hasEvents) await save(second);
        const alert = second.getByRole('alert').getByText('Someone else saved this record');
        await alert.waitFor();
        expect((await send('GET', `/posts/${id}`)).body.title).to.equal('By the first');
        expect(await violationsIn(second)).to.deep.equal([]);
        // Fields that only the other tab changed are taken over. If both changed a field, the user chooses.
        const others = second.getByRole('textbox', { name: 'Other custom fields' });
        expect(JSON.parse(await others.inputValue())).to.deep.equal({ note: 2 });
        const mine = second.getByRole('textbox', { name: 'Title' });
        expect(await mine.inputValue()).to.equal('By the second');
        await second.getByLabel('Title, theirs').getByText('By the first').waitFor();
        expect(await second.getByRole('button', { name: 'Take theirs' }).count()).to.equal(1);
        await save(second);
        await second.getByRole('alert').getByText('Not saved. You both changed a field').waitFor();
        await second.locator('button:focus', { hasText: 'Keep mine' }).waitFor();
        expect((await send('GET', `/posts/${id}`)).body.title).to.equal('By the first');
        await second.getByRole('button', { name: 'Take theirs' }).click();
        expect(await mine.inputValue()).to.equal('By the first');
        if (!hasEvents) await second.getByRole('button', { name: 'Keep mine' }).click();
        await save(second);
        await told(second, 'Saved.');
        expect((await send('GET', `/posts/${id}`)).body).to.include({
          ...{
            title: hasEvents ? 'By the first' : 'By the second',
            body: 'Of the second',
            note: 2,
          },
        });
        for (const page of [first, second]) await page.context().close();
      }
    });

    it('updates an open form after another save, and reports a deletion', async () => {
      const { id } = await make('/posts', { title: 'Watched' });
      const page = await open(`#/posts/${id}`);
      await page.getByRole('heading', { name: 'Watched' }).waitFor();
      await send('PATCH', `/posts/${id}`, { title: 'Watched and changed' });
      await told(page, 'Someone else saved this record');
      expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).to.equal(
        'Watched and changed',
      );
      await page.getByText('Version 2').waitFor();
      await send('DELETE', `/posts/${id}`);
      await page.getByRole('alert').getByText('This record has been deleted.').waitFor();
      await page.context().close();
    });

    it('creates a new record from unsaved text if someone deletes the record', async () => {
      for (const hasEvents of [true, false]) {
        const { id } = await make('/posts', { title: 'Vanishing', body: `Kept, ${hasEvents}` });
        const page = await open(
          `#/posts/${id}`,
          {},
          server.address,
          hasEvents ? undefined : blockEvents,
        );
        await page.getByRole('textbox', { name: 'Title' }).fill('Back again');
        await send('DELETE', `/posts/${id}`);
        if (!hasEvents) await save(page);
        await page.getByRole('alert').getByText('creates a new one').waitFor();
        await save(page, 'Create');
        await told(page, 'Created.');
        const { body } = await send('GET', '/posts?title=Back%20again');
        expect(body.posts.map((post) => post.body)).to.include(`Kept, ${hasEvents}`);
        await page.context().close();
      }
    });

    it('creates drafts by default, and does not warn about leaving an unchanged form', async () => {
      const { id } = await make('/users', { name: 'Claude McKay' });
      const page = await open(`#/posts?authorId=${id}`);
      await page.getByRole('link', { name: 'New post' }).click();
      await page.getByRole('heading', { name: 'New post' }).waitFor();
      page.on('dialog', () => wrong.push('a question about nothing'));
      await page.getByRole('link', { name: 'Users' }).first().click();
      await page.getByRole('heading', { name: 'Users' }).waitFor();
      await page.goBack();
      await page.getByRole('textbox', { name: 'Title' }).fill('Home to Harlem');
      await save(page, 'Create');
      await told(page, 'Created.');
      const { body } = await send('GET', `/posts?authorId=${id}`);
      expect(body.posts.map(({ publishedAt }) => publishedAt)).to.deep.equal([null]);
      await page.context().close();
    });

    it('accepts the full name of an author, and reports an unknown one', async () => {
      const author = await make('/users', { name: 'Jean Toomer' });
      await make('/users', { name: 'Jean Toomer Jr.' });
      const page = await open('#/new/posts');
      await page.getByRole('textbox', { name: 'Title' }).fill('Cane');
      await page.getByRole('combobox', { name: 'Author' }).fill('Nobody of that name');
      await save(page, 'Create');
      await page.locator('#field-authorId-error').waitFor();
      await page.getByRole('combobox', { name: 'Author' }).fill('jean toomer');
      const option = page.locator(`datalist option[value="${author.id}"]`);
      await option.waitFor({ state: 'attached' });
      await save(page, 'Create');
      await told(page, 'Created.');
      expect(await page.getByRole('combobox', { name: 'Author' }).inputValue()).to.equal(
        'Jean Toomer',
      );
      const { body } = await send('GET', '/posts?title=Cane');
      expect(body.posts[0]?.authorId).to.equal(author.id);
      await page.context().close();
    });

    it('deletes a user, with a choice to keep or delete the posts', async () => {
      for (const [choice, left] of [
        ['Delete, keep posts', 1],
        ['Delete with posts', 0],
      ] as const) {
        const user = await make('/users', { name: 'Leaving' });
        const post = await make('/posts', { title: 'Left behind', authorId: user.id });
        const page = await open(`#/users/${user.id}`);
        await page.getByRole('link', { name: '1 post of this user' }).click();
        await page.getByRole('link', { name: 'Left behind' }).waitFor();
        await page.goBack();
        await page.getByRole('link', { name: '1 post of this user' }).waitFor();
        await page.getByRole('button', { name: 'Delete…' }).click();
        await page.getByText('You can keep 1 post of this user').waitFor();
        expect(await violationsIn(page)).to.deep.equal([]);
        await page.getByRole('button', { name: choice }).click();
        await told(page, 'Deleted.');
        expect((await send('GET', `/users/${user.id}`)).status).to.equal(404);
        const after = await send('GET', `/posts/${post.id}`);
        expect(after.status).to.equal(left === 1 ? 200 : 404);
        if (left === 1) expect(after.body.authorId).to.equal(null);
        await page.context().close();
      }
    });

    it('searches, filters, sorts, pages through and counts 100,000 users', async () => {
      const seeded = await rostrum(
        ...['seed', '--store', store, '--users', '100000', '--posts', '0'],
      );
      expect(seeded.code, seeded.stderr).to.equal(0);
      for (const last of ['a', 'b', 'c'])
        await make('/users', { name: `Ägir ${last}`, town: 'Hlesey' });
      const page = await open('#/users');
      await page
        .locator('#count')
        .getByText(/^100,0\d\d users$/)
        .waitFor();
      expect(await page.getByRole('row').count()).to.equal(26);
      await page.getByRole('searchbox').fill('ägir');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.locator('#count').getByText('3 users').waitFor();
      await page.getByRole('link', { name: 'Name' }).click();
      const names = () => page.locator('tbody th').allTextContents();
      await page.locator('th[aria-sort=ascending]').waitFor();
      await page.getByText('Ägir b').waitFor();
      expect(await names()).to.deep.equal(['Ägir a', 'Ägir b', 'Ägir c']);
      await page.getByRole('link', { name: 'Name' }).click();
      await page.locator('th[aria-sort=descending]').waitFor();
      await page.getByText('Ägir b').waitFor();
      expect(await names()).to.deep.equal(['Ägir c', 'Ägir b', 'Ägir a']);
      await page.getByRole('link', { name: 'Clear' }).click();
      const seen = new Set<string>();
      for (let number = 1; number <= 4; number++) {
        await page.getByText(`Page ${number}`, { exact: true }).waitFor();
        await page.locator('tbody tr').nth(24).waitFor();
        for (const link of await page.locator('tbody th a').all()) {
          seen.add((await link.getAttribute('href')) ?? '');
        }
        await page.getByRole('link', { name: 'Next' }).click();
      }
      expect(seen.size).to.equal(100);
      await page.getByRole('link', { name: 'Back' }).click();
      await page.getByText('Page 4', { exact: true }).waitFor();
      await make('/posts', { title: 'Still a draft', publishedAt: null });
      await page.goto(`${server.address}/admin#/posts?.state=draft`);
      await page.getByRole('link', { name: 'Still a draft' }).waitFor();
      await page.goto(`${server.address}/admin#/posts?section=news&authorId=none`);
      await page.getByText('No posts match.').waitFor();
      await page.context().close();
    });

    it('can be used with the keyboard alone', async () => {
      const { id } = await make('/users', { name: 'By keys' });
      const page = await open(`#/users/${id}`);
      await page.getByRole('textbox', { name: 'Name' }).focus();
      await page.keyboard.type(' alone');
      await page.keyboard.press('Enter');
      await told(page, 'Saved.');
      await page.getByRole('button', { name: 'Delete…' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      expect((await send('GET', `/users/${id}`)).body.name).to.equal('By keys alone');
      await page.context().close();
    });

    for (const look of looks) {
      it(`has no accessibility violations: ${look.colorScheme}, ${look.viewport.width} px wide`, async () => {
        const { id } = await make('/users', { name: 'Looked at' });
        for (const hash of ['#/users', '#/posts', '#/new/posts', `#/users/${id}`, '#/users/none']) {
          const page = await open(hash, look);
          await page.locator('h1').waitFor();
          await page.locator('#admin[aria-busy=false]').waitFor();
          await page.getByText('Loading…').waitFor({ state: 'detached' });
          expect(await violationsIn(page), hash).to.deep.equal([]);
          const overflow = await page.evaluate<number>(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect(overflow, hash).to.be.at.most(0);
          await page.context().close();
        }
      });
    }

    it('offers only what the scopes of a key allow', async () => {
      const keys = join(given.folder, 'keys');
      const tokenOf = (scopes: string, ...more: string[]) => createKey(keys, scopes, ...more);
      const ada = await make('/users', { name: 'Ada of Keys' });
      const own = await make('/posts', { title: 'Of Ada', authorId: ada.id, publishedAt: null });
      const other = await make('/posts', { title: 'Of nobody' });
      const tokens = {
        usersRead: await tokenOf('users:read'),
        postsRead: await tokenOf('posts:read'),
        postsWrite: await tokenOf('posts:write'),
        publicUsers: await tokenOf('users:read:public'),
        author: await tokenOf('posts:read,posts:write:own,users:write:own', '--subject', ada.id),
      };
      await using asked = await startServer('--store', store, '--auth-keys', keys);
      const refusals: string[] = [];
      const listen = async (page: Page) =>
        page.on('response', (response) => {
          if (response.status() >= 400) refusals.push(new URL(response.url()).pathname);
        });
      const enter = async (token: string): Promise<Page> => {
        const page = await open('', {}, asked.address, listen);
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        await page.getByLabel('Key or token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        return page;
      };
      const links = (page: Page) => page.locator('.tabs nav a').allTextContents();

      const refused = await enter('nonsense');
      await refused.getByRole('alert').getByText('The credentials are not valid.').waitFor();
      expect(await violationsIn(refused)).to.deep.equal([]);

      const users = await enter(tokens.usersRead);
      await users.getByRole('heading', { name: 'Users' }).waitFor();
      expect(await links(users)).to.deep.equal(['Users']);
      expect(await users.getByRole('link', { name: 'New user' }).count()).to.equal(0);
      await users.goto(`${asked.address}/admin#/users/${ada.id}`);
      await users.getByRole('heading', { name: 'Ada of Keys' }).waitFor();
      expect(await users.locator('main button').allTextContents()).to.deep.equal(['Sign out']);
      expect(await users.getByRole('textbox', { name: 'Name' }).isDisabled()).to.equal(true);
      for (const hash of ['#/posts', '#/new/users']) {
        await users.goto(`${asked.address}/admin${hash}`);
        await users.getByRole('alert').getByText('Your credentials do not allow this.').waitFor();
        expect(await users.getByRole('search').count()).to.equal(0);
      }

      const hidden = await enter(tokens.publicUsers);
      await hidden.getByRole('link', { name: 'Ada of Keys' }).waitFor();
      expect(await hidden.getByText('Email').count()).to.equal(0);

      const reader = await enter(tokens.postsRead);
      await reader.getByRole('link', { name: 'Of nobody' }).waitFor();
      expect(await reader.getByRole('link', { name: 'Of Ada' }).count()).to.equal(0);
      expect(await reader.getByRole('link', { name: 'New post' }).count()).to.equal(0);

      const writer = await enter(tokens.postsWrite);
      await writer.getByRole('heading', { name: 'New post' }).waitFor();
      expect(await links(writer)).to.deep.equal(['New post']);
      await writer.getByRole('textbox', { name: 'Title' }).fill('Blind');
      await save(writer, 'Create');
      await told(writer, 'Created.');

      const author = await enter(tokens.author);
      await author.getByRole('link', { name: 'My posts' }).click();
      await author.getByRole('link', { name: 'Of Ada' }).waitFor();
      expect(await links(author)).to.deep.equal(['Posts', 'My posts', 'My account']);
      await author.goto(`${asked.address}/admin#/posts/${other.id}`);
      await author.getByRole('heading', { name: 'Of nobody' }).waitFor();
      expect(await author.getByRole('button', { name: 'Save' }).count()).to.equal(0);
      await author.goto(`${asked.address}/admin#/posts/${own.id}`);
      await author.getByRole('heading', { name: 'Of Ada' }).waitFor();
      await author.getByRole('textbox', { name: 'Title' }).fill('Of Ada herself');
      await save(author);
      await told(author, 'Saved.');
      await author.getByRole('button', { name: 'Sign out' }).click();
      await author.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await author.evaluate('sessionStorage.length')).to.equal(0);
      // The page sends no requests that the scopes don't allow.
      expect(refusals).to.deep.equal(['/admin/caller']);
      for (const page of [refused, users, hidden, reader, writer, author])
        await page.context().close();
    });
  });
}
