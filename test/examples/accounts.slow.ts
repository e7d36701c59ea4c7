import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient, isApiProblem } from '../../packages/rostrum-client/src/index.ts';
import { blocksOf } from '../docs/markdown.ts';
import { node } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';
import { Blog, emailOf, folder, password } from './support/blog.ts';

describe('the accounts example', function () {
  this.timeout(60_000);
  let blog: Blog;

  before(async () => {
    blog = await Blog.start();
  });
  after(() => blog?.[Symbol.asyncDispose]());

  const codeOf = async (call: Promise<unknown>) => {
    const error = await call.catch((reason: unknown) => reason);
    return isApiProblem(error) ? error.code : error;
  };
  const giveRole = (...args: string[]) => blog.run('role.ts', ...args);

  it('gives a new account a user, a profile and drafts', async () => {
    expect(await codeOf(blog.anybody().me.get())).to.equal('unauthenticated');
    const ada = await blog.signUp('Ada');
    const draft = { title: 'On', slug: 'on', publishedAt: null };
    expect(await codeOf(ada.client.posts.create(draft))).to.equal('invalid-record');
    const { created, record } = await ada.client.me.save({ name: 'Ada', about: 'Engines' });
    expect([created, record.id]).to.deep.equal([true, ada.id]);

    const { id } = (await ada.client.posts.create(draft)).record;
    const grace = await blog.member('Grace');
    for (const other of [grace.client, blog.anybody()]) {
      expect((await other.posts.list()).items).to.deep.equal([]);
      expect(await codeOf(other.posts.get(id))).to.equal('post-not-found');
    }
    await ada.client.posts.patch(id, { publishedAt: new Date().toISOString() });
    const { items, users } = await blog.anybody().posts.list({ include: 'author' });
    expect(items.map(({ title }) => title)).to.deep.equal(['On']);
    const { createdAt } = record;
    expect(users).to.deep.equal([{ id: ada.id, name: 'Ada', createdAt, about: 'Engines' }]);
    expect(await codeOf(grace.client.posts.delete(id))).to.equal('forbidden');

    expect((await ada.ask('/sign-out', {})).status).to.equal(200);
    expect((await ada.ask('/token')).status).to.equal(401);
    const later = blog.browser();
    const credentials = { email: emailOf('Ada'), password };
    expect((await later.ask('/sign-in/email', credentials)).status).to.equal(200);
    expect((await later.client.me.get()).record).to.deep.equal(record);
  });

  it('requires unique slugs, and filters posts by tag', async () => {
    const { client } = await blog.member('Barbara');
    const post = { title: 'Types', slug: 'über-types', tags: ['types', 'clu'] };
    await client.posts.create(post);
    expect(await codeOf(client.posts.create({ ...post, title: 'More' }))).to.equal('field-taken');
    for (const wrong of [{ slug: 5 }, { tags: 'types' }]) {
      const code = await codeOf(client.posts.create({ ...post, slug: 'other', ...wrong }));
      expect(code, JSON.stringify(wrong)).to.equal('invalid-record');
    }
    const api = `${blog.url}/api/v1/posts?fields=slug&tags=`;
    for (const [tags, count] of [
      ['clu', 1],
      ['clu&tags=types', 1],
      ['clu&tags=goto', 0],
    ] as const) {
      const { posts } = (await (await fetch(api + tags)).json()) as { posts: unknown[] };
      expect(posts, tags).to.have.length(count);
    }
  });

  it("lets a new editor publish another author's draft immediately", async () => {
    const [alan, hedy] = [await blog.member('Alan'), await blog.member('Hedy')];
    const draft = { title: 'Hopping', slug: 'hopping', publishedAt: null };
    const { id } = (await hedy.client.posts.create(draft)).record;
    const publish = () => alan.client.posts.patch(id, { publishedAt: '2001-01-01T00:00:00Z' });
    expect(await codeOf(publish())).to.equal('post-not-found');
    expect((await giveRole(emailOf('Alan'), 'king')).code).to.equal(2);
    expect((await giveRole('nobody@example.com', 'editor')).code).to.equal(1);
    expect((await giveRole('Alan@Example.com', 'editor')).code).to.equal(0);
    const { items } = await alan.client.posts.list({ publishedAt: null });
    expect(items.map((post) => post.id)).to.deep.equal([id]);
    expect((await publish()).record.authorId).to.equal(hedy.id);
  });

  it('restores the same identity to someone who deleted their user and returns', async () => {
    const { ask, client, id } = await blog.member('Margaret');
    await client.posts.create({ title: 'Landing', slug: 'landing' });
    expect(await blog.text(`/authors/${id}`)).to.contain('Landing');
    await client.me.delete({ posts: 'delete' });
    await ask('/sign-out', {});
    expect((await blog.get(`/authors/${id}`)).status).to.equal(404);

    const back = blog.browser();
    await back.ask('/sign-in/email', { email: emailOf('Margaret'), password });
    const { created, record, version } = await back.client.me.save({ name: 'M.' });
    expect([created, record.id, version]).to.deep.equal([true, id, 2]);
    expect((await back.client.posts.list({ authorId: 'me' })).items).to.deep.equal([]);
  });

  it('locks out banned accounts immediately', async () => {
    const [owner, troll] = [await blog.member('Owner'), await blog.member('Troll')];
    const ban = () => owner.ask('/admin/ban-user', { userId: troll.id });
    expect((await ban()).status).to.equal(403);
    await giveRole(emailOf('Owner'), 'admin');
    const token = (await (await troll.ask('/token')).json()) as { token: string };
    expect((await ban()).status).to.equal(200);
    const banned = createClient({ url: `${blog.url}/api/v1`, ...token });
    expect(await codeOf(banned.me.get())).to.equal('unauthenticated');
    const credentials = { email: emailOf('Troll'), password };
    expect((await blog.browser().ask('/sign-in/email', credentials)).status).to.equal(403);
  });

  it('allows sign-up from localhost and 127.0.0.1, but not from other origins', async () => {
    const statusFrom = async (origin: string, email: string) => {
      const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: 'a=b' };
      const body = JSON.stringify({ name: 'Ada', email, password });
      return (await fetch(`${blog.url}/api/auth/sign-up/email`, { method: 'POST', headers, body }))
        .status;
    };
    const other = blog.url.replace('localhost', '127.0.0.1');
    expect(await statusFrom(other, 'here@example.com')).to.equal(200);
    expect(await statusFrom('http://evil.example.com', 'evil@example.com')).to.equal(403);
  });

  it('rejects a token that better-auth did not issue', async () => {
    const forged = createClient({ url: `${blog.url}/api/v1`, token: 'e30.e30.e30' });
    expect(await codeOf(forged.posts.list())).to.equal('unauthenticated');
  });

  it('serves the dashboard', async () => {
    for (const [path, type] of [
      ['/dashboard', 'text/html'],
      ['/style.css', 'text/css'],
    ] as const) {
      expect((await blog.get(path)).headers.get('content-type'), path).to.contain(type);
    }
    for (const path of ['/page/index.html', '/data/secret', '/server.ts']) {
      expect((await blog.get(path)).status, path).to.equal(404);
    }
  });

  it('shows the names of members who have not published to editors only', async () => {
    const shy = await blog.member('Shy');
    await shy.client.posts.create({ title: 'Shy', slug: 'shy', publishedAt: null });
    expect((await blog.get(`/authors/${shy.id}`)).status).to.equal(404);
    expect(await codeOf(blog.anybody().users.list())).to.equal('unauthenticated');
    expect(await codeOf(blog.anybody().users.get(shy.id))).to.equal('unauthenticated');
    const other = await blog.member('Other');
    expect(await codeOf(other.client.users.list())).to.equal('forbidden');
    await giveRole(emailOf('Other'), 'editor');
    const { users } = await other.client.posts.list({ publishedAt: null, include: 'author' });
    expect(users.map(({ name }) => name)).to.include('Shy');
  });

  it('has no type errors', async () => {
    // `npm run check` does not know the packages of the example.
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const { code, output } = await node([tsc, '-b', folder, join(folder, 'page')]);
    expect(code, output).to.equal(0);
  });

  it('matches the code in docs/accounts.md', async () => {
    const names = ['accounts.ts', 'roles.ts', 'server.ts', 'page/session.ts'];
    const read = (name: string) => readFile(join(folder, name), 'utf8');
    const source = (await Promise.all(names.map(read))).join('\n');
    const blocks = blocksOf('docs/accounts.md', 'ts');
    expect(blocks).to.have.length(6);
    for (const { text } of blocks) expect(source).to.include(text);
  });
});

describe('the settings of the accounts example', function () {
  this.timeout(60_000);

  it('let only editors publish by default, and change what is published', async () => {
    await using blog = await Blog.start({ PUBLISH: '' });
    const { client } = await blog.member('Ada');
    const editor = await blog.member('Grace');
    await blog.run('role.ts', emailOf('Grace'), 'editor');
    const post = { title: 'On', slug: 'on' };
    const errorOf = async (call: Promise<unknown>) => String(await call.catch((error) => error));
    expect(await errorOf(client.posts.create(post))).to.contain('Only editors publish');
    const { id } = (await client.posts.create({ ...post, publishedAt: null })).record;
    for (const publishedAt of ['2001-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
      expect(await errorOf(client.posts.patch(id, { publishedAt }))).to.contain('Only editors');
      await editor.client.posts.patch(id, { publishedAt });
      expect(await errorOf(client.posts.patch(id, { body: 'Spam' }))).to.contain('Only editors');
      await client.posts.patch(id, { body: 'More', publishedAt: null });
    }
    await editor.client.posts.patch(id, { publishedAt: '2001-01-01T00:00:00Z' });
    expect(await blog.text('/posts/on')).to.contain('More');
    await client.posts.delete(id);
  });

  it('close the sign-up, and name the blog in the dashboard', async () => {
    await using blog = await Blog.start({ SIGN_UP: 'closed', BLOG_TITLE: '<b>"&' });
    const { ask } = blog.browser();
    const fields = { name: 'Ada', email: emailOf('Ada'), password };
    expect((await ask('/sign-up/email', fields)).status).to.equal(400);
    const page = await blog.text('/dashboard');
    expect(page).to.contain('<a class="brand" href="/">&lt;b&gt;&quot;&amp;</a>');
    expect(page).to.contain('data-publish="members" data-sign-up="closed"');
  });

  it('are checked at the start', async () => {
    for (const wrong of [{ PUBLISH: 'member' }, { SIGN_UP: 'close' }]) {
      const [name = '', value] = Object.entries(wrong).flat();
      const error = await Blog.start(wrong).catch(({ message }) => message);
      expect(error).to.contain(`${name} must be`).and.to.contain(`"${value}"`);
    }
  });
});

describe('the form of the accounts example', () => {
  let merge: (base?: string, mine?: string, theirs?: string) => Record<string, unknown>;

  before(async () => {
    // Not with a literal: `npm run check` does not know the packages of the example.
    ({ merge } = await import(join(folder, 'page', 'merge.ts')));
  });

  it('merges changes to different lines', () => {
    const merged = merge(
      'One\n\nTwo\n\nThree',
      'Mine\n\nTwo\n\nThree',
      'One\n\nTwo\n\nTheirs\n\nEnd',
    );
    const text = 'Mine\n\nTwo\n\nTheirs\n\nEnd';
    expect(merged).to.deep.equal({ mine: text, theirs: text, conflicts: [] });
    expect(merge('A', 'A', 'Theirs').mine).to.equal('Theirs');
    expect(merge('A', 'Mine', 'A').mine).to.equal('Mine');
    expect(merge('', '', '').mine).to.equal('');
  });

  it('reports lines that both changed, and keeps both texts', () => {
    const { mine, theirs, conflicts } = merge(
      'A\n\nB\n\nC',
      'A\n\nMine\n\nC',
      'New A\n\nTheirs\n\nC',
    );
    expect(mine).to.equal('New A\n\nMine\n\nC');
    expect(theirs).to.equal('New A\n\nTheirs\n\nC');
    expect(conflicts).to.have.length(1);
    expect((conflicts as object[])[0]).to.deep.include({ a: ['Mine'], b: ['Theirs'] });
  });

  it('reports no conflict if both typed the same', () => {
    expect(merge('A', 'Ours', 'Ours')).to.deep.equal({
      mine: 'Ours',
      theirs: 'Ours',
      conflicts: [],
    });
  });
});
