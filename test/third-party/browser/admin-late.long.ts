// Tests `/admin` in Chromium with late or lost responses and concurrent changes by others: no text is lost, and
// all messages are true.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { createKey, rostrum, type Server, sendJson, startServer } from '../../support/server.ts';
import { inChromium, visit } from './chromium.ts';

interface Body {
  readonly id: string;
  readonly title: string;
  readonly authorId: string;
  readonly publishedAt: string;
  readonly posts: readonly Body[];
}

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

  const send = async (method: string, path: string, body?: object) =>
    (await sendJson<Body>(server.address, method, path, body)).body;

  const admin = (use: (page: Page) => Promise<void>, address = server.address) =>
    visit(given.browser, `${address}/livez`, undefined, use);
  const open = (page: Page, path: string, address = server.address) =>
    page.goto(`${address}/admin#/${path}`);
  const title = (page: Page) => page.getByRole('textbox', { name: 'Title' });
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
  const told = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();

  /** Delays the response to the next matching request until `release`. */
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

  /** Lets matching requests reach the server but loses their responses. Returns a function that stops this. */
  async function loseResponses(
    page: Page,
    method: string,
    path: string,
    how: 'refuse' | 'abort' | 504 = 'refuse',
    times = 1,
  ): Promise<() => Promise<void>> {
    let left = times;
    const isOfThese = ({ pathname }: URL) => pathname === `/api/v1${path}`;
    await page.route(isOfThese, async (route) => {
      if (route.request().method() !== method || left-- <= 0) return route.fallback();
      await route.fetch();
      if (how === 'abort') return route.abort();
      const status = how === 'refuse' ? 429 : how;
      await route.fulfill({ status, headers: { 'Retry-After': '0' }, body: '' });
    });
    return () => page.unroute(isOfThese);
  }

  it('keeps text typed during a save', () =>
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

  it('reports a save as successful even if its response was lost', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Unheard' });
      await open(page, `posts/${id}`);
      await loseResponses(page, 'PUT', `/posts/${id}`);
      await title(page).fill('Unheard, and saved');
      await save(page);
      await told(page, 'Saved.');
      expect(await page.getByRole('alert').count()).to.equal(0);
    }));

  it('reports this also if the server normalizes the saved values', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', {
        title: 'Written otherwise',
        publishedAt: null,
      });
      await open(page, `posts/${id}`);
      await loseResponses(page, 'PUT', `/posts/${id}`);
      await page.getByLabel('Publication').selectOption('Publish now');
      await page.getByRole('textbox', { name: 'Other custom fields' }).fill('{"n":1,"m":{"a":2}}');
      await save(page);
      await told(page, 'Saved.');
      expect(await page.getByRole('alert').count()).to.equal(0);
    }));

  for (const [how, alert] of [
    ['abort', 'No response arrived'],
    [504, 'does not come from the API'],
  ] as const) {
    it(`creates one record if the form is submitted again after a lost response: ${how}`, () =>
      admin(async (page) => {
        await open(page, 'new/posts');
        const heard = await loseResponses(page, 'POST', '/posts', how, Infinity);
        await title(page).fill(`Sent again after ${how}`);
        await page.getByLabel('Publication').selectOption('Publish now');
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('alert').getByText(alert).waitFor();
        await heard();
        await page.getByRole('button', { name: 'Create' }).click();
        await told(page, 'Created.');
        const { posts } = await send('GET', `/posts?title=Sent%20again%20after%20${how}`);
        expect(posts).to.have.length(1);
      }));
  }

  it('shows the other version, not a save of its own, if only someone else made changes', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Of nobody here' });
      await page.route(/events\?.*after=/, () => {});
      await open(page, `posts/${id}`);
      await title(page).waitFor();
      await send('PATCH', `/posts/${id}`, { title: 'Of somebody else' });
      await save(page);
      await told(page, 'Someone else saved this record');
      expect(await title(page).inputValue()).to.equal('Of somebody else');
    }));

  it('shows changes made by others during a save or behind the deletion dialog', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Of two' });
      await open(page, `posts/${id}`);
      const put = await hold(page, 'PUT', `/posts/${id}`);
      await title(page).fill('Of the first');
      await save(page);
      await put.reached;
      await send('PATCH', `/posts/${id}`, { body: 'Of the second' });
      await page.waitForTimeout(1000);
      put.release();
      await page.getByText('Version 3').waitFor();
      const body = page.getByRole('textbox', { name: 'Body' });
      expect(await body.inputValue()).to.equal('Of the second');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await send('PATCH', `/posts/${id}`, { body: 'Once more' });
      await page.waitForTimeout(1000);
      expect(await page.getByText('Version 4').count()).to.equal(0);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('Version 4').waitFor();
      expect(await body.inputValue()).to.equal('Once more');
    }));

  it('keeps text that combines both versions of a field', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'One' });
      await open(page, `posts/${id}`);
      await title(page).fill('Two');
      await send('PATCH', `/posts/${id}`, { title: 'Three' });
      await page.getByText('yours are not saved yet').waitFor();
      await title(page).fill('Two and three');
      await save(page);
      await page.getByRole('alert').getByText('Not saved. You both changed a field').waitFor();
      await page.getByRole('button', { name: 'Take theirs' }).click();
      await title(page).fill('Three!');
      await page.getByRole('button', { name: 'Keep mine' }).click();
      expect(await title(page).inputValue()).to.equal('Two and three');
      await page.getByRole('button', { name: 'Mine is kept' }).click();
      await page.getByRole('button', { name: 'Mine is kept' }).waitFor();
      expect(await page.getByText('choose').count()).to.equal(0);
      await save(page);
      await told(page, 'Saved.');
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Two and three');
    }));

  it('accepts a time typed with the keyboard, and does not save an incomplete one', () =>
    admin(async (page) => {
      const publishedAt = '2030-05-31T10:30:00.000Z';
      const { id } = await send('POST', '/posts', { title: 'At a time', publishedAt });
      await open(page, `posts/${id}`);
      const time = page.getByLabel('Time of publication');
      await time.focus();
      await page.keyboard.press('Delete');
      await save(page);
      await page.waitForTimeout(300);
      expect((await send('GET', `/posts/${id}`)).publishedAt).to.equal(publishedAt);
      await time.focus();
      await page.keyboard.type('02312029'); // An impossible date.
      await save(page);
      await page.waitForTimeout(300);
      expect((await send('GET', `/posts/${id}`)).publishedAt).to.equal(publishedAt);
      await title(page).focus();
      await time.focus();
      await page.keyboard.type('063020');
      await page.keyboard.press('Enter');
      await page.waitForTimeout(300);
      expect((await send('GET', `/posts/${id}`)).publishedAt).to.equal(publishedAt);
      await title(page).focus();
      await time.focus();
      await page.keyboard.type('063020311105A');
      expect(await time.inputValue()).to.equal('2031-06-30T11:05');
      expect(await time.inputValue()).to.match(/^2031-06-30T/);
      await save(page);
      await page.getByText('Version 2').waitFor();
      expect((await send('GET', `/posts/${id}`)).publishedAt).to.match(/^2031-06-30T/);
    }));

  it('keeps the keyboard focus after a save', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Keys' });
      await open(page, `posts/${id}`);
      await title(page).fill('Keys again');
      await page.getByRole('button', { name: 'Save' }).focus();
      await page.keyboard.press('Enter');
      await told(page, 'Saved.');
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Save');
    }));

  it('finds an author by the beginning of a name when the form is submitted at once', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/users', { name: 'Zenobia Only' });
      await open(page, 'new/posts');
      await title(page).fill('Of Zenobia');
      await page.getByRole('combobox', { name: 'Author' }).fill('zenob');
      await page.keyboard.press('Enter');
      await told(page, 'Created.');
      expect((await send('GET', '/posts?title=Of%20Zenobia')).posts[0]?.authorId).to.equal(id);
    }));

  it('shows custom fields with unusual names and values', () =>
    admin(async (page) => {
      const title = 'Of an odd field';
      const { id } = await send('POST', '/posts', { title, name: 'Another', seenAt: 'never' });
      await open(page, `posts/${id}`);
      const field = page.getByRole('textbox', { name: 'Title' });
      expect(await field.inputValue()).to.equal(title);
      await page.getByRole('textbox', { name: 'Other custom fields' }).fill('{"__proto__": 1}');
      await save(page);
      await page.getByText('"__proto__" cannot be among these.').waitFor();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('heading', { name: 'Delete “Of an odd field' }).waitFor();
    }));

  it('can retry a list that failed to load', () =>
    admin(async (page) => {
      await send('POST', '/posts', { title: 'Read again' });
      await page.route('**/api/v1/posts?**', (route) => route.abort());
      await open(page, 'posts');
      await page.getByRole('alert').getByText('No response arrived').waitFor();
      await page.unroute('**/api/v1/posts?**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'Read again' }).waitFor();
    }));

  it('can retry if the caller’s permissions failed to load', () =>
    admin(async (page) => {
      await page.route('**/admin/caller', (route) =>
        route.fulfill({ status: 502, body: '<html>' }),
      );
      await open(page, 'posts');
      await page.getByRole('alert').getByText('No response arrived').waitFor();
      expect(await page.getByText('Sign in').count()).to.equal(0);
      await page.unroute('**/admin/caller');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Posts' }).waitFor();
    }));

  it('loses no text typed while someone else saves the same field', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Typed on' });
      await open(page, `posts/${id}`);
      await title(page).focus();
      await page.keyboard.press('End');
      const typing = page.keyboard.type(' and on and on and on and on', { delay: 60 });
      await page.waitForTimeout(300);
      await send('PATCH', `/posts/${id}`, { title: 'Of another' });
      await page.getByLabel('Title, theirs').waitFor();
      await typing;
      expect(await title(page).inputValue()).to.equal('Typed on and on and on and on and on');
    }));

  it('restores an unsaved form when the user navigates back to it', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Left' });
      await open(page, 'posts');
      await page.getByRole('link', { name: 'Left', exact: true }).click();
      await title(page).fill('Left, and come back to');
      await page.goBack();
      await page.getByRole('heading', { name: 'Posts' }).waitFor();
      await page.goForward();
      await page.getByRole('heading', { name: 'Left', exact: true }).waitFor();
      expect(await title(page).inputValue()).to.equal('Left, and come back to');
      await save(page);
      await told(page, 'Saved.');
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Left, and come back to');
      await page.goBack();
      await page.getByRole('link', { name: 'Left, and come back to' }).waitFor();
    }));

  it('recognizes its own save from the event if no response arrives', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Told by the event' });
      await open(page, `posts/${id}`);
      const heard = await loseResponses(page, 'PUT', `/posts/${id}`, 'abort', Infinity);
      await title(page).fill('Saved, and not told');
      await save(page);
      await told(page, 'Saved.');
      await heard();
      expect(await page.getByText('Someone else').count()).to.equal(0);
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Save');
    }));

  it('does not mistake someone else’s change for its own save', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Of colours', colour: 'blue' });
      await page.route(/events\?.*after=/, () => {});
      await open(page, `posts/${id}`);
      await page.getByRole('textbox', { name: 'Other custom fields' }).fill('');
      await send('PATCH', `/posts/${id}`, { colour: 'red' });
      await save(page);
      await page.getByText('yours are not saved yet').waitFor();
    }));

  it('creates one record if the form is edited and resubmitted after a lost response', () =>
    admin(async (page) => {
      await open(page, 'new/posts');
      const heard = await loseResponses(page, 'POST', '/posts', 'abort', Infinity);
      await title(page).fill('Typed on after it');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('alert').getByText('No response arrived').waitFor();
      await heard();
      await title(page).fill('Typed on after it!');
      await page.getByRole('button', { name: 'Create' }).click();
      await told(page, 'Saved.');
      const { posts } = await send('GET', '/posts?title[startsWith]=Typed%20on%20after');
      expect(posts.map((post) => post.title)).to.deep.equal(['Typed on after it!']);
    }));

  it('creates a new record if the record is deleted after a save that never arrived', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Not to be saved' });
      await open(page, `posts/${id}`);
      await page.route(`**/posts/${id}`, (route) =>
        route.request().method() === 'PUT' ? route.abort() : route.fallback(),
      );
      await title(page).fill('To be made anew');
      await save(page);
      await page.getByRole('alert').getByText('No response arrived').waitFor();
      await send('DELETE', `/posts/${id}`);
      await page.getByRole('button', { name: 'Create' }).click();
      await told(page, 'Created.');
      expect((await send('GET', '/posts?title=To%20be%20made%20anew')).posts).to.have.length(1);
    }));

  it('keeps showing that a record was deleted', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Deleted meanwhile' });
      await open(page, `posts/${id}`);
      await title(page).fill('Typed');
      await send('DELETE', `/posts/${id}`);
      await page.getByRole('alert').getByText('This record has been deleted.').waitFor();
      await title(page).pressSequentially(' on');
      expect(await page.getByRole('alert').textContent()).to.contain(
        'This record has been deleted.',
      );
    }));

  it('does not delete a record that changed just before the dialog opened', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Deleted late?' });
      await open(page, `posts/${id}`);
      await title(page).waitFor();
      const read = await hold(page, 'GET', `/posts/${id}`);
      await send('PATCH', `/posts/${id}`, { title: 'Changed late' });
      await read.reached;
      await page.getByRole('button', { name: 'Delete…' }).click();
      read.release();
      await page.waitForTimeout(300);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alert').getByText('Not deleted').waitFor();
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Changed late');
    }));

  it('does not guess an author if the lookup fails', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/users', { name: 'Anna Met' });
      await send('POST', '/users', { name: 'Anna' });
      await send('POST', '/posts', { title: 'Of Anna Met', authorId: id });
      await open(page, 'posts');
      await page.getByRole('link', { name: 'Anna Met', exact: true }).waitFor();
      await page.route('**/api/v1/users?**', (route) => route.fulfill({ status: 500, body: '' }));
      await open(page, 'new/posts');
      await title(page).fill('Of whom?');
      await page.getByRole('combobox', { name: 'Author' }).fill('Ann');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.locator('#field-authorId-error').waitFor();
      await page.unroute('**/api/v1/users?**');
      await page.getByRole('combobox', { name: 'Author' }).fill('anna');
      await page.getByRole('button', { name: 'Create' }).click();
      await told(page, 'Created.');
      const author = page.getByRole('combobox', { name: 'Author' });
      expect(await author.inputValue()).to.equal('Anna');
    }));

  it('ignores late responses for a page the user has left', () =>
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

  it('does not delete a record that someone changes while the dialog is open', () =>
    admin(async (page) => {
      const { id } = await send('POST', '/posts', { title: 'Deleted?' });
      await open(page, `posts/${id}`);
      await page.getByRole('button', { name: 'Delete…' }).click();
      await send('PATCH', `/posts/${id}`, { title: 'Changed, and better' });
      await page.waitForTimeout(1000); // Time for the event to arrive, which must not change the open dialog.
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('alert').getByText('Not deleted: someone else changed').waitFor();
      expect(await title(page).inputValue()).to.equal('Changed, and better');
      expect((await send('GET', `/posts/${id}`)).title).to.equal('Changed, and better');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await told(page, 'Deleted.');
    }));

  it('shows the latest version of a list', () =>
    admin(async (page) => {
      const late = await hold(page, 'GET', '/posts');
      await open(page, 'posts?title[startsWith]=Listed');
      await late.reached;
      await page.getByText('Loading…').waitFor();
      await send('POST', '/posts', { title: 'Listed since' });
      await page.waitForTimeout(1500);
      late.release();
      await page.getByRole('link', { name: 'Listed since' }).waitFor();
      await page.waitForTimeout(300);
      expect(await page.getByRole('link', { name: 'Listed since' }).count()).to.equal(1);
    }));

  it('keeps the author of a post even if another user’s name equals the author’s id', () =>
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

  it('rejects a known field among the other custom fields', () =>
    admin(async (page) => {
      await open(page, 'new/posts');
      await title(page).fill('Of the field');
      await page
        .getByRole('textbox', { name: 'Other custom fields' })
        .fill('{"title": "Of others"}');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('"title" cannot be among these.').waitFor();
    }));

  it('forgets names and invalid keys after signing out', async () => {
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

  it('sends no requests after signing out', async () => {
    const keys = join(given.folder, 'signed-out-keys');
    const key = await createKey(keys, 'posts:read:all');
    await using asked = await startServer('--store', store, '--auth-keys', keys);
    await admin(async (page) => {
      await open(page, 'posts', asked.address);
      await page.getByLabel('Key or token').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Posts' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      await page.evaluate("location.hash = '#/posts?sort=title'");
      await page.waitForTimeout(500);
      expect(sent).to.deep.equal([]);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    }, asked.address);
  });

  it('hides unsaved text from a caller with fewer scopes, and shows errors of hidden fields', async () => {
    const keys = join(given.folder, 'other-keys');
    const first = await createKey(keys, 'users:read,users:write');
    const second = await createKey(keys, 'posts:read,posts:write:own', '--subject', 'nobody');
    const user = await send('POST', '/users', { name: 'Of the first caller' });
    await using asked = await startServer('--store', store, '--auth-keys', keys);
    await admin(async (page) => {
      const enter = async (key: string) => {
        await page.getByLabel('Key or token').fill(key);
        await page.getByRole('button', { name: 'Sign in' }).click();
      };
      await open(page, `users/${user.id}`, asked.address);
      await enter(first);
      await page.getByRole('textbox', { name: 'Name' }).fill('Of the first caller, changed');
      const [, id = ''] = first.split('_');
      await rostrum('key', 'revoke', id, '--auth-keys', keys);
      await page.waitForTimeout(1500);
      await save(page);
      await page.getByRole('alert').getByText('The credentials are not valid.').waitFor();
      await enter(second);
      await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
      expect(await page.getByText('Of the first caller').count()).to.equal(0);
      await open(page, 'new/posts', asked.address);
      await title(page).fill('Of nobody');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('/authorId: ').waitFor();
    }, asked.address);
  });

  it('keeps a form whose key is revoked until the user signs in with another key', async () => {
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
      await page.getByText('What you typed is still here.').waitFor();
      await page.getByLabel('Key or token').fill(second);
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await title(page).inputValue()).to.equal('Typed with the first key');
      await page.getByRole('button', { name: 'Create' }).click();
      await told(page, 'Created.');
    }, asked.address);
  });
});
