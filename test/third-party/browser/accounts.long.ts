// Runs examples/accounts in Chromium: with one user, two windows, two users, and an editor.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { Blog, emailOf, Mailbox, password } from '../../examples/support/blog.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child, node, outcomeOf, start } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';
import { inChromium, violationsIn, watch } from './chromium.ts';

const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })),
);

describe('examples/accounts in Chromium', function () {
  this.timeout(300_000);
  const given = inChromium();
  const cwd = join(repository, 'examples', 'accounts');
  let url: string;
  let server: Child;
  let env: Record<string, string>;
  let wrong: string[];
  let mailbox: Mailbox;

  before(async () => {
    const port = await freePort();
    url = `http://localhost:${port}/`;
    mailbox = await Mailbox.start();
    const data = join(given.folder, 'data');
    env = { SMTP_URL: mailbox.url, PORT: String(port), DATA: data, PUBLISH: 'members' };
    server = start('npm', ['start'], { cwd, env });
    const ended = outcomeOf(server);
    for (;;) {
      const tried = await Promise.race([ended, fetch(url).catch(() => sleep(200))]);
      if (tried && 'output' in tried) throw new Error(`npm start exited: ${tried.output}`);
      if (tried?.ok) break;
    }
  });
  after(async () => {
    if (server?.pid === undefined) return;
    const exited = once(server, 'exit');
    // Kill the whole process group: npm does not forward the signal on every platform.
    process.kill(-server.pid);
    await exited;
    await mailbox[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    wrong = [];
  });
  afterEach(() => {
    expect(wrong).to.deep.equal([]);
  });

  async function open(context: BrowserContext, hash = ''): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    watch(page, wrong);
    await page.goto(hash.startsWith('#') ? `${url}dashboard${hash}` : url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  const inOneBrowser = () => given.browser.newContext(looks[0]);
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const follow = (page: Page, name: string) =>
    page.getByRole('link', { name, exact: true }).click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
  const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const alert = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor();

  async function enter(page: Page, form: string, fields: Record<string, string>): Promise<void> {
    for (const [label, text] of Object.entries(fields)) {
      await page.getByRole('form', { name: form }).getByLabel(label).fill(text);
    }
    await press(page, form);
  }

  const credentialsOf = (name: string) => ({
    Email: `${name.toLowerCase()}@example.com`,
    Password: 'correct horse',
  });

  /** Signs up in a page that shows the form, and follows the link of the mail. */
  async function enterAccount(page: Page, name: string, credentials = credentialsOf(name)) {
    await enter(page, 'Sign up', { Name: name, ...credentials });
    await heading(page, 'Check your mail').waitFor();
    await page.goto((await mailbox.take(credentials.Email)).link);
    await heading(page, 'Confirm your address').waitFor();
    await check(page, 'a confirmation');
    await enter(page, 'Confirm', { Password: credentials.Password });
    await heading(page, 'My posts').waitFor();
  }

  async function signUp(name: string): Promise<Page> {
    const page = await open(await inOneBrowser(), '#/sign-in');
    await enterAccount(page, name);
    return page;
  }

  /** Creates a post, which stays open in the form. */
  async function write(page: Page, fields: Record<string, string>, name: string): Promise<void> {
    await follow(page, 'Write');
    await heading(page, 'Write').waitFor();
    // The form of a saved post, which can still be there, has this button.
    await page.getByRole('button', { name: 'Delete', exact: true }).waitFor({ state: 'detached' });
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
    await press(page, name);
  }

  it('lets a user sign up and publish a post that readers can find', async () => {
    const page = await open(await inOneBrowser());
    await follow(page, 'Write');
    await heading(page, 'Sign in').waitFor();
    await enter(page, 'Sign in', credentialsOf('Ada'));
    await alert(page, 'Invalid email or password');
    await enterAccount(page, 'Ada');

    await write(
      page,
      { Title: 'Über Engines!', Tags: 'engines, , steam', Text: 'One\n\nTwo' },
      'Save draft',
    );
    await said(page, 'Saved.');
    expect(await page.getByLabel('Address').inputValue()).to.equal('uber-engines');
    const reader = await open(await inOneBrowser());
    await reader.getByText('There are no posts here yet.').waitFor();
    await press(page, 'Publish');
    await said(page, 'Published.');
    await write(page, { Title: 'Again', Address: 'uber-engines' }, 'Publish');
    await page.locator('.error:not(:empty)').waitFor();
    expect(await page.evaluate('document.activeElement.name')).to.equal('slug');
    await page.getByLabel('Address').fill('again');
    await press(page, 'Save draft');
    await said(page, 'Saved.');

    await reader.reload();
    await reader.getByRole('searchbox').fill('über');
    await press(reader, 'Search');
    await follow(reader, 'steam');
    await heading(reader, 'Posts about steam').waitFor();
    await follow(reader, 'Über Engines!');
    await heading(reader, 'Über Engines!').waitFor();
    expect(await reader.locator('.body').innerText()).to.match(/One\s+Two/);
    await follow(reader, 'Ada');
    await heading(reader, 'Ada').waitFor();
    await reader.getByRole('searchbox').waitFor({ state: 'detached' });
    expect(await reader.locator('.posts li').count()).to.equal(1);
    for (const one of [page, reader]) await one.context().close();
  });

  it('loses no text if a post is edited in two windows', async () => {
    const page = await signUp('Grace');
    await write(page, { Title: 'Compilers', Text: 'First' }, 'Publish');
    await said(page, 'Published.');
    const other = await open(page.context(), new URL(page.url()).hash);
    const text = (window: Page) => window.getByLabel('Text');

    await other.getByLabel('Title').fill('On compilers');
    await press(other, 'Save');
    await said(other, 'Saved.');
    await text(page).fill('Mine');
    await press(page, 'Save');
    await alert(page, 'Those changes are in the form now');
    expect(await page.getByLabel('Title').inputValue()).to.equal('On compilers');
    await press(page, 'Save');
    await said(page, 'Saved.');

    for (const [choice, theirs, expected] of [
      ['Use the saved text', 'Theirs', 'Theirs'],
      ['Replace it with mine', 'Theirs again', 'Mine again'],
    ] as const) {
      await other.reload();
      const end = '\n\nThe end';
      await text(other).fill(`First\n\nSecond${end}`);
      await press(other, 'Save');
      await said(other, 'Saved.');
      await page.reload();
      await text(other).fill(`Begin\n\n${theirs}${end}`);
      await press(other, 'Save');
      await said(other, 'Saved.');
      await text(page).fill(`First\n\nMine again${end}`);
      // Saving again is not a choice.
      for (const message of ['Both changed some lines', 'Choose between the texts below first']) {
        await press(page, 'Save');
        await alert(page, message);
        await page.locator('.theirs pre').getByText(theirs, { exact: true }).waitFor();
      }
      expect(await text(page).inputValue()).to.equal(`Begin\n\nMine again${end}`);
      expect(await page.locator('.theirs pre').allTextContents()).to.deep.equal([
        'Mine again',
        theirs,
      ]);
      // What is typed before the choice stays.
      await text(page).fill(`Begin\n\nMine again${end}!`);
      await press(page, choice);
      if (choice === 'Replace it with mine') await said(page, 'your text replaces the one');
      await press(page, 'Save');
      await said(page, 'Saved.');
      expect(await page.locator('.theirs').count()).to.equal(0);
      await other.reload();
      expect(await text(other).inputValue()).to.equal(`Begin\n\n${expected}${end}!`);
    }

    other.once('dialog', (dialog) => dialog.accept());
    await press(other, 'Delete');
    await heading(other, 'My posts').waitFor();
    await text(page).fill('Still here');
    await press(page, 'Save');
    await alert(page, 'Someone deleted this post');
    page.once('dialog', (dialog) => dialog.dismiss());
    await follow(page, 'My posts');
    await press(page, 'Publish');
    await said(page, 'Published.');
    await follow(page, 'View');
    await page.getByText('Still here').waitFor();
    await page.context().close();
  });

  it('previews a text, takes images, and schedules a post', async () => {
    const page = await signUp('Katherine');
    await write(
      page,
      { Title: 'Orbits', Text: 'See *here* <script>alert(1)</script> ' },
      'Preview',
    );
    const emphasis = page.frameLocator('iframe').locator('.preview em');
    await emphasis.getByText('here').waitFor();
    const styled = "getComputedStyle(document.querySelector('.preview')).paddingTop";
    expect(await emphasis.evaluate(styled)).to.equal('16px');
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const name = 'a](javascript:alert(1))".png';
    const file = { name, mimeType: 'image/png', buffer: Buffer.from(png, 'base64') };
    const chooser = page.locator('input[type=file]');
    await chooser.setInputFiles({ ...file, buffer: Buffer.from('<svg>') });
    await alert(page, 'Use a PNG');
    expect(await page.locator('#status').textContent()).to.equal('');
    await chooser.setInputFiles(file);
    await said(page, 'Image added.');
    const text = page.getByLabel('Text');
    for (const kind of ['paste', 'drop']) {
      await page.evaluate(`{
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob('${png}'), (character) => character.charCodeAt(0));
        data.items.add(new File([bytes], '${kind}.png', { type: 'image/png' }));
        const init = { bubbles: true, cancelable: true };
        const event = '${kind}' === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('drop', { ...init, dataTransfer: data });
        document.querySelector('textarea').dispatchEvent(event);
      }`);
      while (!(await text.inputValue()).includes(`![${kind}](`)) await sleep(50);
    }
    expect(await page.getByLabel('Text').inputValue()).to.contain(
      '![a javascript alert 1](/images/',
    );

    await page.getByLabel('Publish at').fill('2999-01-01T12:00');
    await press(page, 'Publish');
    await said(page, 'Scheduled.');
    await page.reload();
    expect(await page.getByLabel('Publish at').inputValue()).to.equal('2999-01-01T12:00');
    const path = '/posts/orbits';
    expect((await fetch(new URL(path, url))).status).to.equal(404);
    await page.getByLabel('Publish at').fill('');
    await press(page, 'Publish');
    await said(page, 'Published.');
    await page.getByLabel('Title').fill('On orbits');
    await page.getByLabel('Address').fill('on-orbits');
    await press(page, 'Save');
    await said(page, 'Saved.');
    const reader = await open(await given.browser.newContext({ javaScriptEnabled: false }));
    await reader.goto(new URL(path, url).href);
    expect(reader.url()).to.match(/\/posts\/on-orbits$/);
    expect(await reader.locator('.body img').count()).to.equal(3);
    for (const one of [page, reader]) await one.context().close();
  });

  it('lets an editor publish another user’s draft', async () => {
    const [alan, hedy] = [await signUp('Alan'), await signUp('Hedy')];
    await write(hedy, { Title: 'Hopping' }, 'Save draft');
    await said(hedy, 'Saved.');
    expect(await alan.getByRole('link', { name: 'Drafts' }).count()).to.equal(0);
    const role = await node(['role.ts', 'alan@example.com', 'editor'], { cwd, env });
    expect(role.code, role.output).to.equal(0);
    await alan.reload();
    await follow(alan, 'Drafts');
    await heading(alan, 'Drafts').waitFor();
    await check(alan, 'the menu of an editor');
    const inOneRow = `{
      const { firstElementChild: first, lastElementChild: last } = document.querySelector('#menu');
      last.offsetTop < first.offsetTop + first.offsetHeight;
    }`;
    expect(await alan.evaluate(inOneRow)).to.equal(true);
    await follow(alan, 'Hopping');
    await press(alan, 'Publish');
    await said(alan, 'Published.');
    await follow(alan, 'Drafts');
    await follow(alan, 'All posts');
    await follow(alan, 'Hopping');
    await heading(alan, 'Edit').waitFor();
    await follow(alan, 'View');
    await alan.getByRole('link', { name: 'Hedy' }).waitFor();
    for (const page of [alan, hedy]) await page.context().close();
  });

  it('lets only editors publish by default', async () => {
    await using blog = await Blog.start({ PUBLISH: '', BLOG_TITLE: 'Engines' });
    const { client } = await blog.member('Ada');
    const post = { title: 'On', slug: 'on', publishedAt: null };
    const { id } = (await client.posts.create({ ...post, slug: null })).record;
    const page = await open(await inOneBrowser());
    await page.goto(`${blog.url}/dashboard#/edit/${id}`);
    await enter(page, 'Sign in', { Email: emailOf('Ada'), Password: password });
    await page.getByRole('link', { name: 'Engines', exact: true }).waitFor();
    await follow(page, 'On');
    await page.getByText('An editor publishes it.').waitFor();
    // An imported draft can lack an address.
    expect(await page.getByLabel('Address').inputValue()).to.equal('on');
    expect(await page.getByRole('button', { name: 'Publish' }).count()).to.equal(0);
    await press(page, 'Save draft');
    await said(page, 'Saved.');
    await blog.run('role.ts', emailOf('Ada'), 'editor');
    await page.reload();
    await press(page, 'Publish');
    await said(page, 'Published.');
    await blog.run('role.ts', emailOf('Ada'), 'user');
    await page.reload();
    await page.getByText('Make it a draft to change it.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).to.equal(0);
    await page.getByLabel('Text').fill('More');
    await press(page, 'Make a draft');
    await said(page, 'Saved.');
    await press(page, 'Sign out');
    await heading(page, 'Posts').waitFor();
    await page.goto(`${blog.url}/dashboard#/reset/used`);
    await enter(page, 'Save', { 'New password': 'battery staple' });
    await alert(page, 'This link has expired, or was used already.');
    await page.context().close();
  });

  it('offers no sign-up if it is closed', async () => {
    await using blog = await Blog.start({ SIGN_UP: 'closed' });
    const page = await open(await inOneBrowser());
    await page.goto(`${blog.url}/dashboard`);
    await heading(page, 'Sign in').waitFor();
    expect(await heading(page, 'Sign up').count()).to.equal(0);
    await page.context().close();
  });

  it('renews tokens, and keeps unsaved text if the session ends elsewhere', async () => {
    const page = await open(await inOneBrowser());
    let renewals = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/auth/token')) renewals++;
    });
    await page.clock.install();
    await page.goto(`${url}dashboard`);
    await enterAccount(page, 'Barbara');
    await write(page, { Title: 'Types' }, 'Save draft');
    await said(page, 'Saved.');
    expect(renewals).to.equal(1);
    await page.clock.fastForward('06:00');
    await page.getByLabel('Text').fill('All day');
    await press(page, 'Save draft');
    await said(page, 'Saved.');
    expect(renewals).to.equal(2);

    await page.getByLabel('Text').fill('All day and night');
    await page.context().clearCookies();
    await page.clock.fastForward('06:00');
    await press(page, 'Save draft');
    await alert(page, 'You are signed out.');
    const other = await open(page.context(), '#/sign-in');
    await enter(other, 'Sign in', credentialsOf('Barbara'));
    await heading(other, 'My posts').waitFor();
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await press(page, 'Save draft');
    await said(page, 'Saved.');

    await press(other, 'Sign out');
    await heading(other, 'Posts').waitFor();
    // The other window is told, without being looked at.
    await heading(page, 'Sign in').waitFor();
    expect(await page.getByText('All day').count()).to.equal(0);
    await page.context().close();
  });

  it('lets a user choose a new password by mail, and delete their account', async () => {
    const page = await signUp('Margaret');
    await write(page, { Title: 'Landing' }, 'Publish');
    await said(page, 'Published.');
    await press(page, 'Sign out');
    await heading(page, 'Posts').waitFor();
    await follow(page, 'Write');
    await follow(page, 'Forgot your password?');
    const { Email } = credentialsOf('Margaret');
    await enter(page, 'Send a link', { Email });
    await heading(page, 'Check your mail').waitFor();
    await page.goto((await mailbox.take(Email)).link);
    await enter(page, 'Save', { 'New password': 'battery staple' });
    await heading(page, 'Your new password is saved').waitFor();
    await follow(page, 'Sign in');
    await enter(page, 'Sign in', { Email, Password: 'battery staple' });
    await follow(page, 'Profile');
    await page.getByLabel('About').fill('Software');
    await press(page, 'Save');
    await said(page, 'Saved.');
    await page.getByLabel('Password').fill('battery staple');
    page.once('dialog', (dialog) => dialog.accept());
    await press(page, 'Delete it with my posts');
    await heading(page, 'Posts').waitFor();
    expect(await page.getByText('Landing').count()).to.equal(0);
    await follow(page, 'Write');
    await enter(page, 'Sign in', { Email, Password: 'battery staple' });
    await alert(page, 'Invalid email or password');
    await page.context().close();
  });

  for (const look of looks) {
    it(`lets an author claim their imported posts: ${look.viewport.width} px, ${look.colorScheme}`, async () => {
      const name = `Mary${look.viewport.width}${look.colorScheme}`;
      const credentials = credentialsOf(name);
      const title = `Of ${name}`;
      const old = { id: `old-${name}`, name, email: credentials.Email };
      const publishedAt = '2001-01-01T00:00:00Z';
      const post = { title, slug: name.toLowerCase(), authorId: old.id, body: '<p>Old</p>' };
      const file = join(given.folder, `${name}.json`);
      await writeFile(file, JSON.stringify({ users: [old], posts: [{ ...post, publishedAt }] }));
      const imported = await node(['--import', '../sources.mjs', 'import.ts', file], { cwd, env });
      expect(imported.code, imported.output).to.equal(0);

      const context = await given.browser.newContext(look);
      const page = await open(context, '#/sign-in');
      await enterAccount(page, name, credentials);
      await check(page, 'claimed posts');
      await follow(page, title);
      await page.getByLabel('Title').fill(`${title}, again`);
      await press(page, 'Save');
      await said(page, 'Saved.');
      await page.goto(`${url}posts/${post.slug}`);
      await heading(page, `${title}, again`).waitFor();
      await follow(page, name);
      await heading(page, name).waitFor();
      expect(await page.locator('.posts li').count()).to.equal(1);
      await context.close();
    });
  }

  for (const look of looks) {
    it(`is accessible and fits the window: ${look.viewport.width} px, ${look.colorScheme}`, async () => {
      const context = await given.browser.newContext(look);
      const page = await open(context, '#/sign-in');
      const name = `Ada ${look.viewport.width} ${look.colorScheme}`;
      const credentials = credentialsOf(name.replaceAll(' ', ''));
      await check(page, 'Sign in');
      await follow(page, 'Forgot your password?');
      await heading(page, 'Forgot your password?').waitFor();
      await check(page, 'a forgotten password');
      await page.goBack();
      await heading(page, 'Sign up').waitFor();
      await enterAccount(page, name, credentials);
      const slug = `long-${look.viewport.width}-${look.colorScheme}`;
      const title =
        'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
      const fields = {
        Title: title,
        Address: slug,
        Tags: 'one, two, three',
        Text: 'Of steam. '.repeat(200),
      };
      await heading(page, 'My posts').waitFor();
      await write(page, fields, 'Publish');
      await said(page, 'Published.');
      await press(page, 'Preview');
      await page.frameLocator('iframe').getByText('Of steam.').waitFor();
      await check(page, 'a preview');
      const other = await open(context, new URL(page.url()).hash);
      await other.getByLabel('Text').fill('Other. '.repeat(200));
      await press(other, 'Save');
      await said(other, 'Saved.');
      await page.getByLabel('Text').fill('Mine. '.repeat(200));
      await press(page, 'Save');
      await alert(page, 'Both changed some lines');
      await check(page, 'a conflict');
      await press(page, 'Replace it with mine');
      await page.getByLabel('Tags').fill(`one, ${'two'.repeat(100)}`);
      await press(page, 'Save');
      await page.locator('.error:not(:empty)').waitFor();
      await check(page, 'an error at a field');
      await press(page, `Remove ${'two'.repeat(100)}`);
      await press(page, 'Save');
      await said(page, 'Saved.');
      await follow(page, 'View');
      await heading(page, title).waitFor();
      await check(page, 'a post');
      await follow(page, 'Posts');
      await heading(page, 'Posts').waitFor();
      await check(page, 'Posts');
      await follow(page, 'Write');
      for (const view of ['My posts', 'Profile']) {
        await follow(page, view);
        await heading(page, view).waitFor();
        await check(page, view);
      }
      await context.close();
    });
  }

  /** Checks accessibility and width of the current page, and takes a screenshot. */
  async function check(page: Page, what: string): Promise<void> {
    expect(await violationsIn(page), what).to.deep.equal([]);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow), `${what} is too wide`).to.equal(0);
    const { SCREENSHOTS } = process.env;
    const { width } = page.viewportSize() ?? { width: 0 };
    const scheme = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
    if (SCREENSHOTS === undefined) return;
    const path = join(
      SCREENSHOTS,
      `accounts-${what.replaceAll(' ', '-')}-${width}-${scheme ? 'dark' : 'light'}.png`,
    );
    await page.screenshot({ path, fullPage: true });
  }
});
