// The pages for readers, and the feed and the sitemap.

import { unescape as decode } from 'node:querystring';
import Router from '@koa/router';
import { Feed } from 'feed';
import type { Context, Middleware } from 'koa';
import { type Instant, isRostrumError, type Position } from 'rostrum';
import { bodyOf, excerptOf } from './body.ts';
import { html, type Markup } from './html.ts';
import { isFresh, type PageHead, type Site, sendPage } from './layout.ts';
import { reader } from './roles.ts';
import type { Search } from './search.ts';
import type { Blog, Post } from './store.ts';

const perPage = 10;
/** The most addresses in a sitemap (sitemaps.org). */
const inSitemap = 50_000;

type Posts = Blog['posts'];
type Filter = NonNullable<Parameters<Posts['list']>[0]>['filter'];
type Item = Awaited<ReturnType<Posts['get']>>;
type Author = Awaited<ReturnType<Posts['listWithAuthors']>>['users'][number];

interface Page {
  readonly items: readonly Item[];
  readonly users: readonly Author[];
}

const pathTo = (...names: string[]) => `/${names.map(encodeURIComponent).join('/')}`;
const pathOf = ({ id, slug }: Pick<Post, 'id' | 'slug'>) => pathTo('posts', slug || id);

/** Serves the pages. They show only what a client without credentials can see. */
export function readerPages(rostrum: Blog, site: Site, search: Search): Middleware {
  const { posts, users } = rostrum.as({ name: 'reader', subject: null, scopes: reader });
  const router = new Router({ strict: true, sensitive: true });

  router.get('/', async (ctx) => {
    const query = textIn(ctx, 'q').slice(0, 200);
    const words = query.trim();
    const form = html`<form class="search" role="search" action="/">
<label>Words<input type="search" name="q" value="${words}" maxlength="200"></label>
<button>Search</button>
</form>`;
    if (words === '') {
      return sendList(ctx, {}, { title: 'Posts', path: '/' }, html`<h1>Posts</h1>${form}`);
    }
    const head = { title: `Posts with “${words}”`, path: '/' };
    await sendFound(ctx, query, head, html`<h1>${head.title}</h1>${form}`);
  });

  router.get('/tags/:tag', async (ctx) => {
    const { tag = '' } = ctx.params;
    const head = { title: `Posts about ${tag}`, path: pathTo('tags', tag) };
    await sendList(ctx, { tags: [tag] }, head, html`<h1>${head.title}</h1>`);
  });

  router.get('/authors/:id', async (ctx) => {
    const { id = '' } = ctx.params;
    const author = await users.getPublic(id);
    const { items } = await posts.list({ filter: { authorId: id }, limit: 1 });
    if (items.length === 0) ctx.throw(404);
    const { name, about } = author.record;
    const head = { title: name, description: about ?? undefined, path: pathTo('authors', id) };
    const intro = html`<h1>${name}</h1>${about && html`<p class="text">${about}</p>`}`;
    await sendList(ctx, { authorId: id }, head, intro, author.json);
  });

  /** Sends a page of a list, newest first. */
  async function sendList(
    ctx: Context,
    filter: Filter,
    head: PageHead,
    intro: Markup,
    ...shown: readonly string[]
  ): Promise<void> {
    const after = positionIn(ctx);
    const page = await posts.listWithAuthors({ filter, limit: perPage, after });
    sendPosts(ctx, page, cursorOf(page.next), head, intro, ...shown);
  }

  /** Sends a page of the posts that have these words, the last published first. */
  async function sendFound(ctx: Context, query: string, head: PageHead, intro: Markup) {
    const cursor = textIn(ctx, 'after');
    const after = Number(cursor);
    if (!Number.isSafeInteger(after)) ctx.throw(404);
    const { ids, next } = search.find(query, { limit: perPage, ...(cursor && { after }) });
    // One list for each post: a single page has no room for ten large posts.
    const lists = ids.map((id) => posts.listWithAuthors({ filter: { ids: [id] } }));
    const pages = await Promise.all(lists);
    const items = pages.flatMap((page) => page.items);
    const users = pages.flatMap((page) => page.users);
    sendPosts(ctx, { items, users }, next?.toString(), head, intro);
  }

  function sendPosts(
    ctx: Context,
    page: Page,
    next: string | undefined,
    head: PageHead,
    intro: Markup,
    ...shown: readonly string[]
  ): void {
    if (isFresh(ctx, ...shown, ...jsonOf(page), next ?? '')) return;
    const rows = page.items.map(({ record }) => rowOf(record, page.users));
    const query = new URLSearchParams(ctx.search);
    query.set('after', next ?? '');
    const content = html`${intro}
${rows.length > 0 ? html`<ul class="posts">${rows}</ul>` : html`<p class="empty">There are no posts here yet.</p>`}
${next && html`<p><a class="button" rel="next" href="${head.path}?${String(query)}">Older posts</a></p>`}`;
    sendPage(ctx, site, head, content);
  }

  router.get('/posts/:name', async (ctx) => {
    const { name = '' } = ctx.params;
    const page = await posts.listWithAuthors({ filter: { slug: name } });
    const [found] = page.items;
    if (found) sendPost(ctx, page, found.record);
    else if (!(await redirect(ctx, [{ formerSlugs: [name] }, { ids: [name] }]))) ctx.throw(404);
  });

  /** Redirects from a former slug, or from an id. A post without a slug is served under its id. */
  async function redirect(ctx: Context, filters: readonly Filter[]): Promise<boolean> {
    for (const filter of filters) {
      const page = await posts.listWithAuthors({ filter });
      const post = page.items[0]?.record;
      if (post?.slug) {
        // Not for good: the author can take the old address again.
        ctx.set('Cache-Control', 'public, no-cache');
        ctx.status = 301;
        ctx.redirect(pathOf(post));
      } else if (post) sendPost(ctx, page, post);
      if (post) return true;
    }
    return false;
  }

  /** Redirects from the address of an imported post in its old blog, such as `/2023/05/slug.html`. */
  function redirectOld(ctx: Context): Promise<boolean> | false {
    const [, slug] = /([^/]+?)(?:\.html?)?\/?$/.exec(ctx.path) ?? [];
    if (!slug) return false;
    const name = decode(slug);
    return redirect(ctx, [{ slug: name }, { formerSlugs: [name] }]);
  }

  function sendPost(ctx: Context, page: Page, post: Post): void {
    if (isFresh(ctx, ...jsonOf(page))) return;
    const body = bodyOf(post);
    const [, image] = /<img [^>]*?src="([^"]*)"/.exec(body.text) ?? [];
    const author = authorOf(post, page.users);
    const content = html`<article>
<h1>${post.title}</h1>
${factsOf(post, page.users)}
<div class="body">${body}</div>
</article>`;
    const head = {
      title: post.title,
      description: excerptOf(post),
      path: pathOf(post),
      article: { publishedAt: post.publishedAt ?? '', author: author?.record.name },
      image: image && new URL(image.replaceAll('&amp;', '&'), site.url).href,
    };
    sendPage(ctx, site, head, content);
  }

  router.get('/feed.xml', async (ctx) => {
    const page = await posts.listWithAuthors({ limit: 20 });
    if (isFresh(ctx, ...jsonOf(page))) return;
    const { title, url } = site;
    const feed = new Feed({
      title,
      id: `${url}/`,
      link: `${url}/`,
      feedLinks: { atom: `${url}/feed.xml` },
      copyright: '',
      updated: new Date(page.items[0]?.record.publishedAt ?? 0),
    });
    for (const { record: post } of page.items) {
      const author = authorOf(post, page.users);
      feed.addItem({
        title: feedText(post.title),
        id: url + pathTo('posts', post.id),
        link: url + pathOf(post),
        date: new Date(post.updatedAt),
        published: new Date(post.publishedAt ?? 0),
        description: feedText(excerptOf(post)),
        content: xmlText(bodyOf(post).text.replaceAll(/(src|href)="\//g, `$1="${url}/`)),
        ...(author && { author: [{ name: xmlText(author.record.name) }] }),
      });
    }
    ctx.type = 'application/atom+xml';
    ctx.body = feed.atom1();
  });

  let sitemap: Promise<string> | undefined;
  const forgetSitemap = () => {
    sitemap = undefined;
  };
  router.get('/sitemap.xml', async (ctx) => {
    if (sitemap === undefined) {
      // Reads all posts, so at most once a minute.
      sitemap = readSitemap();
      sitemap.catch(forgetSitemap);
      setTimeout(forgetSitemap, 60_000).unref();
    }
    const text = await sitemap;
    if (isFresh(ctx, text)) return;
    ctx.type = 'application/xml';
    ctx.body = text;
  });

  async function readSitemap(): Promise<string> {
    const entries: Markup[] = [];
    for await (const { record } of posts.all({ fields: ['slug', 'updatedAt'] })) {
      const lastmod = html`<lastmod>${record.updatedAt}</lastmod>`;
      entries.push(html`<url><loc>${site.url + pathOf(record)}</loc>${lastmod}</url>\n`);
      if (entries.length === inSitemap) break;
    }
    return html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries}</urlset>
`.text;
  }

  router.get('/robots.txt', (ctx) => {
    ctx.body = `User-agent: *\nDisallow: /dashboard\nSitemap: ${site.url}/sitemap.xml\n`;
  });

  const serve = router.routes();
  return async (ctx, next) => {
    try {
      await serve(ctx as never, next);
    } catch (error) {
      const isMissing =
        isRostrumError(error, 'user-not-found') || (error as { status?: number }).status === 404;
      if (!isMissing) throw error;
      ctx.status = 404;
    }
    const isPage = !ctx.path.startsWith('/api/') && ctx.accepts('json', 'html') === 'html';
    if (ctx.status !== 404 || !isPage || (await redirectOld(ctx))) return;
    const head = { title: 'Page not found', path: ctx.path };
    sendPage(ctx, site, head, html`<h1>${head.title}</h1><p><a href="/">All posts</a></p>`);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 404;
  };
}

const jsonOf = ({ items, users }: Page) => [...items, ...users].map(({ json }) => json);

function textIn(ctx: Context, name: string): string {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : '';
}

/** The key is the time of publication. */
const cursorOf = (position: Position | undefined) => position && `${position.key}_${position.id}`;

/** Returns the position after which a page begins. A cursor that is not one of ours is a 404. */
function positionIn(ctx: Context): Position | undefined {
  const cursor = textIn(ctx, 'after');
  if (cursor === '') return undefined;
  const [, key = '', id = ''] = /^(.{24})_([^\0]+)$/.exec(cursor) ?? [];
  if (new Date(Date.parse(key) || 0).toISOString() !== key) ctx.throw(404);
  return { key, id };
}

const authorOf = (post: Post, authors: readonly Author[]) =>
  authors.find(({ record }) => record.id === post.authorId);

function rowOf(post: Post, authors: readonly Author[]): Markup {
  return html`<li>
<h2><a href="${pathOf(post)}">${post.title}</a></h2>
${factsOf(post, authors)}
<p>${excerptOf(post)}</p>
</li>
`;
}

const dates = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const timeOf = (instant: Instant) =>
  html`<time datetime="${instant}">${dates.format(new Date(instant))}</time>`;

/** Who wrote a post, and when, and its tags. */
function factsOf(post: Post, authors: readonly Author[]): Markup {
  const author = authorOf(post, authors)?.record;
  const by = author
    ? html`<a rel="author" href="${pathTo('authors', author.id)}">${author.name}</a>`
    : 'Without an author';
  const tags = (post.tags ?? []).map(
    (tag) => html` <a class="tag" rel="tag" href="${pathTo('tags', tag)}">${tag}</a>`,
  );
  return html`<p class="facts">${by} ${timeOf(post.publishedAt ?? post.createdAt)}${tags}</p>`;
}

/** Removes the characters that XML cannot contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: These are the characters.
const xmlText = (text: string) => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '');

/** The titles and summaries of entries are HTML. */
const feedText = (text: string) => xmlText(html`${text}`.text);
