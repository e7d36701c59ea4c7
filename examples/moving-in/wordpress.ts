// The XML file of WordPress (Tools, Export): the authors, the posts and the pages. TIME_ZONE is the time zone
// of the blog; only old posts without a time in UTC need it.

import { readFile } from 'node:fs/promises';
import { DOMParser, type Element } from '@xmldom/xmldom';
import type { Read, Row, Transform } from 'rostrum/import';

const timeZone = process.env.TIME_ZONE;

/** Characters that XML does not allow, and WordPress writes all the same. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: These are the characters.
const notXml = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** An element as an object: the texts of its children by name, and lists of those with a domain or children. */
function rowOf(element: Element): Row {
  const row: Record<string, unknown> = {};
  for (const child of element.children) {
    const { nodeName, textContent: text } = child;
    const domain = child.getAttribute('domain'); // Of a category: `category`, `post_tag`, `author`.
    const one = domain ? { text, nicename: child.getAttribute('nicename') } : rowOf(child);
    const key = domain ?? nodeName;
    row[key] = domain || child.children.length > 0 ? [row[key] ?? [], one].flat() : text;
  }
  return row;
}

/** Decodes a file, in the encoding that its declaration names. */
function decoded(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 200);
  const [, encoding = 'utf-8'] = /^<\?xml[^>]*encoding=["']([\w-]+)/.exec(start) ?? [];
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

export const read: Read = async (path) => {
  const xml = decoded(await readFile(path)).replace(notXml, '');
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const rows = (name: string) => Array.from(document.getElementsByTagName(name), rowOf);
  return { users: rows('wp:author'), posts: rows('item') };
};

/** Pictures, menus, and what the editor stores for itself. */
const notPosts =
  /^(?:attachment|revision|nav_menu_item|custom_css|oembed_cache|user_request|customize_\w+|wp_\w+)$/;

/** WordPress stores names and titles as HTML: `R&amp;D`. */
const textOf = (html = '') =>
  html.replace(/&#?\w+;/g, (entity) => {
    const document = new DOMParser({ onError() {} }).parseFromString(
      `<p>${entity}</p>`,
      'text/html',
    );
    return document.documentElement?.textContent ?? entity;
  });

const texts = (terms: readonly Row[] = []) => terms.map(({ text }) => textOf(text));

/** The login of an author of the plugin Co-Authors Plus. */
const coAuthorOf = (term?: Row) => term?.nicename?.replace(/^cap-/, '');

/** Logins are the same in any case. */
const idOf = (login?: string) => login?.toLowerCase() || null;

export const users: Transform = (row) => ({
  id: idOf(row['wp:author_login']),
  name: textOf(row['wp:author_display_name']) || row['wp:author_login'],
  email: row['wp:author_email'],
});

const isDate = (text: string) => /^[1-9]/.test(text);

export const posts: Transform = (row, { instant, leaveOut }) => {
  const { 'wp:post_type': type, 'wp:status': status, pubDate = '' } = row;
  if (notPosts.test(type)) return leaveOut(type);
  if (['inherit', 'trash', 'auto-draft'].includes(status)) return leaveOut(status);
  const { 'wp:post_date_gmt': gmt = '', 'wp:post_date': local = '' } = row;
  const utc = isDate(gmt) ? instant(gmt, { timeZone: 'UTC' }) : undefined;
  const time = () =>
    utc ?? (/^$| -0*1 /.test(pubDate) ? instant(local, { timeZone }) : instant(pubDate));
  // WordPress shows neither a post that it failed to publish in time, nor those of plugins, such as forms.
  const isDue = status === 'publish' || (status === 'future' && time() > new Date().toISOString());
  const isPublic = isDue && ['post', 'page'].includes(type) && !row['wp:post_password'];
  return {
    id: row['wp:post_id'],
    title: textOf(row.title).trim() || '(untitled)',
    body: row['content:encoded'],
    excerpt: row['excerpt:encoded'] || undefined,
    authorId: idOf(row['dc:creator'] || coAuthorOf(row.author?.[0])),
    slug: row['wp:post_name'] || null,
    tags: texts(row.post_tag),
    categories: texts(row.category),
    coAuthors: row.author && texts(row.author),
    type,
    status,
    publishedAt: isPublic ? time() : null,
    originalDate: isPublic ? undefined : (utc ?? (isDate(local) ? local : undefined)),
  };
};
