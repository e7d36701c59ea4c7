// A WordPress site through its REST API. An application password (Users, Profile) in WP_USER and
// WP_PASSWORD also reads drafts, private posts and email addresses.

import { DOMParser } from '@xmldom/xmldom';
import type { Read, Row, Transform } from 'rostrum/import';

const { WP_USER, WP_PASSWORD } = process.env;
const account = WP_USER && btoa(`${WP_USER}:${WP_PASSWORD}`);

/** Reads all pages of a list. */
async function list(site: string, name: string, query: Readonly<Record<string, string>> = {}) {
  const rows: Row[] = [];
  for (let [page, pages] = [1, 1]; page <= pages; page++) {
    const context = account ? 'edit' : 'view';
    const search = new URLSearchParams({ ...query, context, per_page: '100', page: `${page}` });
    const headers: Record<string, string> = account ? { Authorization: `Basic ${account}` } : {};
    const response = await fetch(`${site}/wp-json/wp/v2/${name}?${search}`, { headers });
    if (!response.ok) throw new Error(`${response.url} responds with ${response.status}`);
    rows.push(...((await response.json()) as Row[]));
    pages = Number(response.headers.get('X-WP-TotalPages') ?? 1);
  }
  return rows;
}

/** The text of HTML such as `Caf&eacute; <em>open</em>`. */
const textOf = (html: string) =>
  new DOMParser().parseFromString(`<p>${html}</p>`, 'text/html').documentElement?.textContent ?? '';

export const read: Read = async (path) => {
  const site = path.replace(/\/$/, '');
  const namesOf = async (taxonomy: string) =>
    new Map((await list(site, taxonomy)).map(({ id, name }) => [id, textOf(name)]));
  const [tags, categories] = [await namesOf('tags'), await namesOf('categories')];
  const named = (post: Row) => ({
    ...post,
    tags: (post.tags ?? []).map((id: number) => tags.get(id)),
    categories: (post.categories ?? []).map((id: number) => categories.get(id)),
  });
  const status = account ? 'any' : 'publish';
  const [found, pages] = [
    await list(site, 'posts', { status }),
    await list(site, 'pages', { status }),
  ];
  return { users: await list(site, 'users'), posts: [...found, ...pages].map(named) };
};

export const users: Transform = ({ id, name, email }) => ({ id, name, email });

export const posts: Transform = (row, { instant }) => {
  const { status, date_gmt: date } = row;
  const time = date ? instant(date, { timeZone: 'UTC' }) : undefined; // A draft has null.
  // WordPress shows a post that it failed to publish in time to nobody.
  const isDue =
    status === 'publish' || (status === 'future' && `${time}` > new Date().toISOString());
  const isPublic = isDue && !row.password && !row.content.protected;
  return {
    id: row.id,
    title: textOf(row.title.rendered).trim() || '(untitled)',
    body: row.content.raw ?? row.content.rendered,
    authorId: row.author || null,
    slug: row.slug || null,
    tags: row.tags,
    categories: row.categories,
    type: row.type,
    status,
    publishedAt: isPublic ? (time ?? instant(date)) : null,
    originalDate: isPublic ? undefined : time,
  };
};
