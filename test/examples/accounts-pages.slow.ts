import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../support/until.ts';
import { Blog, folder, type Member } from './support/blog.ts';

/** Returns the first capture of each match. */
const all = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, it]) => it);

const titlesIn = (page: string) => all(page, /<h2><a href="[^"]*">([^<]*)/g);

describe('the pages of the accounts example for readers', function () {
  this.timeout(60_000);
  let blog: Blog;
  let ada: Member;

  before(async () => {
    blog = await Blog.start({ BLOG_TITLE: 'Engines & more' });
    ada = await blog.member('Ada');
    await ada.client.me.patch({ about: 'Writes about <engines>.' });
    for (let n = 1; n <= 12; n++) {
      const at = new Date(Date.UTC(2026, 0, n)).toISOString();
      const post = { title: `Post ${n}`, slug: `post-${n}`, publishedAt: at, tags: ['all'] };
      await ada.client.posts.create({ ...post, body: `Text ${n}` });
    }
    const odd = { title: ']]> <b>&', slug: 'ö&<>\'"', publishedAt: '2025-01-01T00:00:00Z' };
    const body = '<h2>Head</h2><pre>code</pre> A ]]> B & \u0001 \uffff <img src="/images/a.png">';
    await ada.client.posts.create({ ...odd, body });
    const later = { publishedAt: '2999-01-01T00:00:00Z' };
    await ada.client.posts.create({
      title: 'Draft',
      slug: 'draft',
      publishedAt: null,
      tags: ['all'],
    });
    await ada.client.posts.create({ title: 'Later', slug: 'later', tags: ['all'], ...later });
  });
  after(() => blog?.[Symbol.asyncDispose]());

  it('show the public posts, newest first, in pages that links connect', async () => {
    const seen: (string | undefined)[] = [];
    for (let path: string | undefined = '/'; path !== undefined; ) {
      const page = await blog.text(path);
      seen.push(...titlesIn(page));
      path = all(page, /rel="next" href="([^"]*)"/g)[0];
    }
    const expected = Array.from({ length: 12 }, (_, n) => `Post ${12 - n}`);
    expect(seen).to.deep.equal([...expected, ']]&gt; &lt;b&gt;&amp;']);
    for (const path of ['/tags/all', `/authors/${ada.id}`, '/sitemap.xml', '/feed.xml']) {
      const page = await blog.text(path);
      expect(page, path).to.contain('post-12');
      expect(page, path).not.to.match(/draft|later/i);
    }
    for (const path of ['/posts/draft', '/posts/later', '/posts/none', '/authors/none', '/none']) {
      const response = await blog.get(path);
      expect([response.status, await response.text()].join(), path).to.match(
        /^404,[\s\S]*not found/,
      );
    }
    const midnight = 'T00:00:00.000Z';
    for (const cursor of [
      'x',
      '2026-01-01_x',
      `2026-02-30${midnight}_x`,
      `2026-13-01${midnight}_x`,
      `+020260-01-01${midnight}_x`,
      `2026-01-01${midnight}_`,
      `2026-01-01${midnight}_%00`,
    ]) {
      expect((await blog.get(`/?after=${cursor}`)).status, cursor).to.equal(404);
    }
    expect(await blog.text(`/?after=2000-01-01${midnight}_x`)).to.contain('no posts here');
  });

  it('find the public posts that have the words of a query, in pages', async () => {
    const found = async (query: string) => titlesIn(await blog.text(`/?q=${query}`));
    // The last one to be indexed.
    await until(async () => (await found('post+tex')).includes('Post 12'), 'the posts are found');
    const first = await blog.text('/?q=post+tex');
    const expected = Array.from({ length: 12 }, (_, n) => `Post ${12 - n}`);
    expect(titlesIn(first)).to.deep.equal(expected.slice(0, 10));
    const [next = ''] = all(first, /rel="next" href="([^"]*)"/g);
    const second = await blog.text(next.replaceAll('&amp;', '&'));
    expect(titlesIn(second)).to.deep.equal(expected.slice(10));
    expect(second).not.to.contain('rel="next"');
    expect(await found('text+7')).to.deep.equal(['Post 7']);
    for (const query of ['draft', 'later', '%22%27*', 'no+such+words']) {
      expect(await found(query), query).to.deep.equal([]);
    }
    expect((await blog.get('/?q=post&after=x')).status).to.equal(404);
  });

  it('describe themselves to search engines, and contain no script', async () => {
    const page = await blog.text('/posts/post-3');
    for (const expected of [
      '<title>Post 3 · Engines &amp; more</title>',
      `<link rel="canonical" href="${blog.url}/posts/post-3">`,
      '<meta property="og:type" content="article">',
      '<meta property="og:description" content="Text 3">',
      '<meta property="article:published_time" content="2026-01-03T00:00:00.000Z">',
      `<a rel="author" href="/authors/${ada.id}">Ada</a>`,
      '<a class="tag" rel="tag" href="/tags/all">all</a>',
      '<p>Text 3</p>',
    ]) {
      expect(page).to.contain(expected);
    }
    expect(page).not.to.contain('<script');
    expect(await blog.text(`/authors/${ada.id}`)).to.contain('Writes about &lt;engines&gt;.');
    expect(await blog.text('/robots.txt')).to.contain(`Sitemap: ${blog.url}/sitemap.xml`);
  });

  it('are revalidated by their ETag, which changes with the post and its author', async () => {
    const { client } = await blog.member('Edith');
    const { id } = (await client.posts.create({ title: 'Tagged', slug: 'tagged' })).record;
    const tagOf = async (path: string) => (await blog.get(path)).headers.get('etag') ?? '';
    const paths = ['/posts/tagged', '/', '/feed.xml'];
    let tags = await Promise.all(paths.map(tagOf));
    // By default, fetch adds `no-cache`, with which Koa sends the whole page.
    const asks = { 'Cache-Control': 'max-age=0' };
    const isFresh = async () => {
      const responses = paths.map((path, n) =>
        blog.get(path, { ...asks, 'If-None-Match': tags[n] ?? '' }),
      );
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    expect(await isFresh()).to.deep.equal([304, 304, 304]);
    for (const change of [
      () => client.posts.patch(id, { body: 'More' }),
      () => client.me.patch({ name: 'Edith C.' }),
    ]) {
      await change();
      expect(await isFresh()).to.deep.equal([200, 200, 200]);
      tags = await Promise.all(paths.map(tagOf));
    }
    await client.posts.delete(id);
    expect((await isFresh())[0]).to.equal(404);
  });

  it('redirect from an id and from a former slug, until another post has it', async () => {
    const { client } = ada;
    const { id } = (await client.posts.create({ title: 'Moved', slug: 'old' })).record;
    const locationOf = async (path: string) => {
      const { status, headers } = await blog.get(path);
      return `${status} ${headers.get('location')}`;
    };
    expect(await locationOf(`/posts/${id}`)).to.equal('301 /posts/old');
    await client.posts.patch(id, { slug: 'new', formerSlugs: ['old'] });
    expect(await locationOf('/posts/old')).to.equal('301 /posts/new');
    await client.posts.create({ title: 'Other', slug: 'old' });
    expect(await blog.text('/posts/old')).to.contain('<h1>Other</h1>');
    const { record } = await client.posts.create({ title: 'No slug' });
    expect(await blog.text(`/posts/${record.id}`)).to.contain('<h1>No slug</h1>');
  });

  it('include a feed and a sitemap that are well-formed whatever a post contains', async () => {
    const { parser } = createRequire(join(folder, 'package.json'))('sax');
    for (const path of ['/feed.xml', '/sitemap.xml']) {
      const text = await blog.text(path);
      parser(true).write(text).close();
      // The parser accepts characters that XML does not.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: These are the characters.
      expect(text, path).not.to.match(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/);
      expect(text, path).to.contain(encodeURIComponent('ö&<>'));
    }
    expect(await blog.text('/feed.xml')).to.contain(`${blog.url}/images/a.png`);
  });

  it('include a feed whose titles are texts, and excerpts without headings and code', async () => {
    const feed = await blog.text('/feed.xml');
    const { parser } = createRequire(join(folder, 'package.json'))('sax');
    /** The texts of the elements of a name, as a reader of feeds takes them: HTML in XML. */
    const found: Record<string, string[]> = {};
    const reader = parser(true);
    const path: string[] = [];
    reader.onopentag = ({ name, attributes }: { name: string; attributes: { type?: string } }) => {
      path.push(attributes.type === 'html' ? `${name} as HTML` : name);
      const key = path.at(-1) ?? '';
      found[key] = [...(found[key] ?? []), ''];
    };
    reader.onclosetag = () => path.pop();
    reader.ontext = reader.oncdata = (text: string) => {
      const list = found[path.at(-1) ?? ''] ?? [];
      list.push((list.pop() ?? '') + text);
    };
    reader.write(feed).close();
    expect(found['title as HTML']).to.include(']]&gt; &lt;b&gt;&amp;');
    expect(found.title).to.include('Engines & more');
    expect(found['summary as HTML']?.join('|')).to.contain('|A ]]&gt; B &amp; ');
    expect(await blog.text('/')).not.to.match(/Head|code/);
  });

  it('redirect from the addresses of other blogs that end in the slug', async () => {
    const locationOf = async (path: string) => (await blog.get(path)).headers.get('location');
    for (const path of ['/2023/05/post-3/', '/post-3', '/2023/05/01/post-3.html']) {
      expect(await locationOf(path), path).to.equal('/posts/post-3');
    }
    for (const path of ['/draft', '/later', '/2023/%ff/', '/%00', '/dashboard.css']) {
      expect((await blog.get(path)).status, path).to.be.oneOf([400, 404]);
    }
    await ada.client.posts.create({ title: 'Readyz', slug: 'readyz' });
    expect((await blog.get('/readyz')).status).to.equal(200);
  });
});
