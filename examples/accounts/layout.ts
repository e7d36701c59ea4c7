// What all pages for readers have in common. They need no script.

import { hash, randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import { html, type Markup } from './html.ts';

/** The blog as its readers see it. */
export interface Site {
  readonly title: string;
  /** The address of the start page, without a final slash. */
  readonly url: string;
  /** With `editors`, members write drafts only. */
  readonly publish: string;
  /** `open` or `closed`. */
  readonly signUp: string;
}

export interface PageHead {
  readonly title: string;
  readonly description?: string | undefined;
  /** The path of the page. The same page under another address names this one. */
  readonly path: string;
  /** For Open Graph: a post is an article. */
  readonly article?: { readonly publishedAt: string; readonly author?: string | undefined };
  readonly image?: string | undefined;
}

/** Allows images of other sites: those of imported posts are at their old addresses. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' http: https:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

const meta = (name: string, content: string | undefined, attribute = 'property') =>
  content && html`<meta ${attribute}="${name}" content="${content}">`;

export function sendPage(ctx: Context, site: Site, head: PageHead, content: Markup): void {
  const { title, description, path, article, image } = head;
  const isHome = path === '/';
  const url = site.url + path;
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', policy);
  const metadata = html`${meta('description', description, 'name')}${meta('og:site_name', site.title)}
${meta('og:title', title)}${meta('og:url', url)}${meta('og:description', description)}
${meta('og:image', image)}${meta('og:type', article ? 'article' : 'website')}
${meta('article:published_time', article?.publishedAt)}${meta('article:author', article?.author)}`;
  ctx.body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isHome ? site.title : `${title} · ${site.title}`}</title>
<link rel="stylesheet" href="/style.css">
<link rel="canonical" href="${url}">
<link rel="alternate" type="application/atom+xml" title="${site.title}" href="/feed.xml">
${metadata}
</head>
<body>
<header class="top">
<a class="brand" href="/">${site.title}</a>
<nav aria-label="Blog">
<a href="/"${isHome && html` aria-current="page"`}>Posts</a> <a href="/feed.xml">Feed</a> <a href="/dashboard">Write</a>
</nav>
</header>
<main>
${content}
</main>
</body>
</html>
`.text;
}

/** Identifies this start of the program, because another version can render other pages. */
const program = randomUUID();

/** Sets the validators of a page that shows these records. Returns true if the client has it already. */
export function isFresh(ctx: Context, ...shown: readonly string[]): boolean {
  const digest = hash('sha256', JSON.stringify([program, ctx.url, shown]), 'base64url');
  // Caches keep the page, and ask each time: a change is visible at once.
  ctx.set({ ETag: `W/"${digest.slice(0, 27)}"`, 'Cache-Control': 'public, no-cache' });
  ctx.status = 200;
  if (ctx.fresh) ctx.status = 304;
  return ctx.fresh;
}
