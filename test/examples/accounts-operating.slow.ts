import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openClaims } from '../../examples/accounts/claims.ts';
import { createClient } from '../../packages/rostrum-client/src/index.ts';
import { describeOnMongodb, sharedServer } from '../support/mongod/shared.ts';
import { node } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { Blog, emailOf, folder, password } from './support/blog.ts';

describe('operating the accounts example', function () {
  this.timeout(60_000);
  let blog: Blog;

  before(async () => {
    blog = await Blog.start();
  });
  after(() => blog?.[Symbol.asyncDispose]());

  /** Imports users with an address each, and a post of each. */
  async function load(names: readonly string[], more: readonly string[] = []): Promise<string> {
    const users = names.map((name) => ({ id: `old-${name}`, name, email: `${name}@Example.com` }));
    const posts = names.map((name) => ({
      ...{ id: `post-${name}`, title: `Of ${name}`, slug: `of-${name}`.toLowerCase() },
      ...{
        authorId: `old-${name}`,
        body: '<p>Old<script>x</script></p>',
        publishedAt: '2001-01-01T00:00:00Z',
      },
    }));
    const file = join(blog.data, 'old.json');
    await writeFile(file, JSON.stringify({ users, posts }));
    const { code, output } = await blog.run('import.ts', file, ...more);
    expect(code, output).to.equal(0);
    return output;
  }

  it('lets the owner of an address claim the imported user and its posts', async () => {
    expect(await load(['Ada'])).to.contain('1 user can be claimed');
    const ada = await blog.signUp('Ada');
    expect(ada.id).to.equal('old-Ada');
    const { record } = await ada.client.me.get();
    expect(record.email).to.equal(null);
    const { items } = await ada.client.posts.list({ authorId: 'me' });
    expect(items.map(({ id }) => id)).to.deep.equal(['post-Ada']);
    await ada.client.posts.patch('post-Ada', { title: 'New' });
    const page = await blog.text('/posts/of-ada');
    expect(page).to.contain('<h1>New</h1>').and.to.contain('<p>Old</p>');
    // A second import changes nothing, and gives the user to nobody else.
    expect(await load(['Ada'])).to.contain('The blog has all of them already.');
    expect(await blog.text('/posts/of-ada')).to.contain('<h1>New</h1>');
  });

  it('gives nothing to an address that is not confirmed, or set in Rostrum', async () => {
    await load(['Grace']);
    const thief = await blog.member('Thief');
    await thief.client.me.patch({ email: emailOf('Grace') });
    expect((await blog.signIn(emailOf('Thief'))).id).to.equal(thief.id);
    const { ask } = blog.browser();
    await ask('/sign-up/email', { name: 'Grace', email: emailOf('Grace'), password });
    expect((await ask('/token')).status).to.equal(401);
    const grace = await blog.mailbox.take(emailOf('Grace'));
    await ask(`/verify-email?${new URLSearchParams({ token: grace.token })}`);
    expect((await blog.signIn(emailOf('Grace'))).id).to.equal('old-Grace');
  });

  it('gives a claimed user to one of two accounts', async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, 'accounts.db');
    const [one, other] = [new DatabaseSync(path), new DatabaseSync(path)].map(openClaims);
    one?.add('Ada@example.com', 'old');
    expect(other?.add('ada@example.com', 'other')).to.equal(false);
    expect([one?.take('a', 'ADA@example.com'), other?.take('b', 'ada@example.com')]).to.deep.equal([
      true,
      false,
    ]);
    expect([one?.subjectOf('a'), one?.subjectOf('b')]).to.deep.equal(['old', 'b']);

    await load(['Twice']);
    const { ask } = blog.browser();
    await ask('/sign-up/email', { name: 'Twice', email: emailOf('Twice'), password });
    const { token } = await blog.mailbox.take(emailOf('Twice'));
    const link = `/verify-email?${new URLSearchParams({ token })}`;
    await Promise.all(Array.from({ length: 5 }, () => ask(link)));
    expect((await blog.signIn(emailOf('Twice'))).id).to.equal('old-Twice');
  });

  it('moves posts to an account that had a user before the import', async () => {
    const { id, client } = await blog.member('Hedy');
    expect(await load(['Hedy'])).to.contain('npm run move -- old-Hedy Hedy@Example.com');
    expect((await blog.signIn(emailOf('Hedy'))).id).to.equal(id);
    const { output } = await blog.run('move.ts', 'old-Hedy', 'Hedy@Example.com');
    expect(output).to.contain('Moved 1 post');
    expect((await client.posts.list({ authorId: 'me' })).items).to.have.length(1);
  });

  it('shows the blogs that WordPress and Ghost export', async function () {
    this.timeout(180_000); // Each import starts three processes.
    const recipes = join(repository, 'examples', 'moving-in');
    const ghost = {
      db: [
        {
          data: {
            users: [{ id: 'g', name: 'Gil', email: 'gil@example.com' }],
            tags: [
              { id: 't', name: 'News & more', visibility: 'public' },
              { id: 'i', name: '#letter', visibility: 'internal' },
            ],
            posts_tags: [
              { post_id: '1', tag_id: 't' },
              { post_id: '1', tag_id: 'i' },
            ],
            posts_authors: [{ post_id: '1', author_id: 'g' }],
            posts: [
              {
                ...{
                  id: '1',
                  title: 'Casper',
                  slug: 'casper',
                  status: 'published',
                  visibility: 'public',
                },
                ...{ html: '<p>Boo <img src="__GHOST_URL__/a.png"></p>', type: 'post' },
                published_at: '2019-01-01 00:00:00',
              },
            ],
          },
        },
      ],
    };
    const file = join(blog.data, 'ghost.json');
    await writeFile(file, JSON.stringify(ghost));
    const xml = join(blog.data, 'blog.xml');
    await writeFile(
      xml,
      `<rss xmlns:wp="w" xmlns:dc="d" xmlns:content="c"><channel>
<wp:author><wp:author_login>wendy</wp:author_login><wp:author_email>wendy@example.com</wp:author_email><wp:author_display_name>Wendy</wp:author_display_name></wp:author>
<item><title>Press</title><dc:creator>wendy</dc:creator><content:encoded><![CDATA[One

Two <img src="https://old.example/b.png">]]></content:encoded><wp:post_id>7</wp:post_id><wp:post_date_gmt>2019-01-02 00:00:00</wp:post_date_gmt><wp:post_name>press</wp:post_name><wp:status>publish</wp:status><wp:post_type>post</wp:post_type><category domain="post_tag" nicename="x">Ink</category></item>
<item><title>Imprint</title><dc:creator>wendy</dc:creator><content:encoded>x</content:encoded><wp:post_id>8</wp:post_id><wp:post_date_gmt>2019-01-02 00:00:00</wp:post_date_gmt><wp:post_name>imprint</wp:post_name><wp:status>publish</wp:status><wp:post_type>page</wp:post_type></item>
</channel></rss>`,
    );
    const transform = async (path: string, recipe: string, settings = {}, ...more: string[]) => {
      const command = ['--import', '../sources.mjs', 'import.ts', path, ...more];
      const env = { DATA: blog.data, ...settings };
      return node([...command, '--transform', join(recipes, recipe)], { cwd: folder, env });
    };
    const unknown = await transform(file, 'ghost.ts');
    expect(unknown.code).to.equal(2);
    expect(unknown.output).to.contain('Set GHOST_URL to the address of your blog');
    const ghosts = await transform(file, 'ghost.ts', { GHOST_URL: 'https://old.example/' });
    expect(ghosts.code, ghosts.output).to.equal(0);
    const tried = await transform(xml, 'wordpress.ts', {}, '--dry-run');
    expect(tried.output).to.contain('Would add').and.not.to.contain('can be claimed');
    expect((await blog.get('/posts/press')).status).to.equal(404);
    const presses = await transform(xml, 'wordpress.ts');
    expect(presses.code, presses.output).to.equal(0);
    const [casper, press] = [await blog.text('/posts/casper'), await blog.text('/posts/press')];
    for (const part of ['>Gil</a>', '>News &amp; more</a>', 'src="https://old.example/a.png"']) {
      expect(casper).to.contain(part);
    }
    for (const part of ['>Wendy</a>', '>Ink</a>', '<p>One</p>\n<p>Two <img', 'old.example/b.png']) {
      expect(press).to.contain(part);
    }
    expect(casper).not.to.contain('#letter');
    expect(presses.output).to.contain('Public pages become drafts.');
    expect((await blog.get('/posts/imprint')).status).to.equal(404);
    expect(await blog.text('/feed.xml')).not.to.contain('Imprint');
    expect((await blog.get('/2019/01/press/')).headers.get('location')).to.equal('/posts/press');
    const again = (await readFile(xml, 'utf8')).replace('<wp:post_id>8', '<wp:post_id>9');
    await writeFile(xml, again.replace('>imprint<', '>about<'));
    expect((await transform(xml, 'wordpress.ts', {}, '--pages')).code).to.equal(0);
    expect(await blog.text('/posts/about')).to.contain('<h1>Imprint</h1>');
  });

  it('leaves out what conflicts with the blog, if it is told to', async () => {
    const { client } = await blog.member('Owner');
    await client.posts.create({ title: 'Here', slug: 'of-late' });
    const file = join(blog.data, 'conflict.json');
    const posts = ['of-late', 'of-free'].map((slug) => ({ id: slug, title: slug, slug }));
    const users = [{ id: 'late', name: 'Late', email: emailOf('Late') }];
    const dated = posts.map((post) => ({ ...post, publishedAt: '2001-01-01T00:00:00Z' }));
    await writeFile(file, JSON.stringify({ users, posts: dated }));
    const refused = await blog.run('import.ts', file);
    expect([refused.code, refused.output.includes('Nothing was added')]).to.deep.equal([2, true]);
    expect((await blog.get('/posts/of-free')).status).to.equal(404);
    const { code, output } = await blog.run('import.ts', file, '--skip-invalid');
    expect(code).to.equal(2);
    expect(output).to.contain('1 user can be claimed');
    expect(await blog.text('/posts/of-late')).to.contain('<h1>Here</h1>');
    expect(await blog.text('/posts/of-free')).to.contain('<h1>of-free</h1>');
  });

  it('serves /admin to the key of the operator, in the same process', async () => {
    const token = await readFile(join(blog.data, 'operator-key'), 'utf8');
    const operator = createClient({ url: `${blog.url}/api/v1`, token });
    const { record } = await operator.users.create({ name: 'By hand', email: 'hand@example.com' });
    expect((await operator.users.get(record.id)).record.email).to.equal('hand@example.com');
    expect((await blog.get('/admin')).status).to.equal(200);
    expect((await blog.get('/readyz')).status).to.equal(200);
  });

  it('backs everything up while it runs', async () => {
    const { client } = await blog.member('Saved');
    await client.posts.create({ title: 'Kept', slug: 'kept' });
    await using directory = await temporaryDirectory();
    const copy = join(directory.path, 'backup');
    const { code, output } = await blog.run('backup.ts', copy);
    expect(code, output).to.equal(0);
    expect(await readdir(copy)).to.have.members([
      'blog.db',
      'accounts.db',
      'images',
      'secret',
      'operator-key',
    ]);
    const second = await blog.run('backup.ts', copy);
    expect([second.code, second.output.trim()]).to.deep.equal([
      1,
      `${copy} exists. Name a new folder: two backups must not mix.`,
    ]);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o077;
    for (const place of [blog.data, copy]) {
      for (const name of ['', 'accounts.db', 'blog.db', 'images', 'secret', 'operator-key']) {
        expect(await modeOf(join(place, name)), join(place, name)).to.equal(0);
      }
    }
    await using restored = await Blog.start({ DATA: copy });
    expect(await restored.text('/posts/kept')).to.contain('<h1>Kept</h1>');
    const browser = restored.browser();
    const credentials = { email: emailOf('Saved'), password };
    expect((await browser.ask('/sign-in/email', credentials)).status).to.equal(200);
    expect((await browser.client.me.get()).record.name).to.equal('Saved');
  });
});

await describeOnMongodb('the accounts example on MongoDB', function (this: Mocha.Suite) {
  this.timeout(120_000);

  it('keeps users and posts there', async () => {
    const url = (await sharedServer()).url('blog');
    await using blog = await Blog.start({ MONGODB_URL: url });
    const { client } = await blog.member('Ada');
    await client.posts.create({ title: 'On', slug: 'on', tags: ['engines'] });
    expect(await blog.text('/tags/engines')).to.contain('href="/posts/on"');
    expect(await readdir(blog.data)).not.to.include('blog.db');
  });
});
