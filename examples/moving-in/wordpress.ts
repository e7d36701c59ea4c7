// The XML file of WordPress (Tools, Export): the authors, the posts and the pages.

import { readFile } from 'node:fs/promises';
import { DOMParser, type Element } from '@xmldom/xmldom';
import type { Read, Row, Transform } from 'rostrum/import';

/** Characters that XML does not allow, and WordPress writes all the same. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: These are the characters.
const notXml = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

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

export const read: Read = async (path) => {
  const xml = (await readFile(path, 'utf8')).replace(/^\ufeff/, '').replace(notXml, '');
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const rows = (name: string) => Array.from(document.getElementsByTagName(name), rowOf);
  return { users: rows('wp:author'), posts: rows('item') };
};

/** Pictures, menus, and what the editor stores for itself. */
const notPosts =
  /^(?:attachment|revision|nav_menu_item|custom_css|oembed_cache|user_request|customize_\w+|wp_\w+)$/;

const texts = (terms: readonly Row[] = []) => terms.map(({ text }) => text);

/** The login of an author of the plugin Co-Authors Plus. */
const coAuthorOf = (term?: Row) => term?.nicename?.replace(/^cap-/, '');

export const users: Transform = (row) => ({
  id: row['wp:author_login'],
  name: row['wp:author_display_name'] || row['wp:author_login'],
  email: row['wp:author_email'],
});

export const posts: Transform = (row, { instant }) => {
  const type = row['wp:post_type'];
  const status = row['wp:status'];
  if (notPosts.test(type) || ['inherit', 'trash', 'auto-draft'].includes(status)) return null;
  const isPublic = ['publish', 'future'].includes(status) && !row['wp:post_password'];
  const gmt = row['wp:post_date_gmt'] ?? '';
  const time = () =>
    /^[1-9]/.test(gmt) ? instant(gmt, { timeZone: 'UTC' }) : instant(row.pubDate);
  return {
    id: row['wp:post_id'],
    title: row.title || '(untitled)',
    body: row['content:encoded'],
    excerpt: row['excerpt:encoded'] || undefined,
    authorId: row['dc:creator'] || coAuthorOf(row.author?.[0]) || null,
    slug: row['wp:post_name'] || null,
    tags: texts(row.post_tag),
    categories: texts(row.category),
    coAuthors: row.author && texts(row.author),
    type,
    status,
    publishedAt: isPublic ? time() : null,
  };
};
