// The JSON file of Ghost (Settings, Import/Export). GHOST_URL is the address of the blog, which the file does not
// contain.

import type { Row, Source, Transform } from 'rostrum/import';

const dataOf = ({ db, data }: Row): Row => db?.[0].data ?? data;

/** The values of a list that belong to each post, in their order. */
function joined(rows: readonly Row[] = [], value: (row: Row) => unknown): Map<string, unknown[]> {
  const sorted = rows.toSorted((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0));
  return new Map(
    [...Map.groupBy(sorted, (row) => row.post_id)].map(([id, list]) => [id, list.map(value)]),
  );
}

/** Replaces what Ghost writes for the address of the blog, in links and pictures. */
function withAddress<Value>(text: Value): Value | string {
  if (typeof text !== 'string' || !text.includes('__GHOST_URL__')) return text;
  const { GHOST_URL } = process.env;
  if (GHOST_URL) return text.replaceAll('__GHOST_URL__', GHOST_URL.replace(/\/$/, ''));
  throw new Error(
    'Set GHOST_URL to the address of your blog, such as https://blog.example: this post has links to it.',
  );
}

export const source: Source = {
  users: (document) => dataOf(document).users,
  posts(document) {
    const { posts, posts_authors, posts_tags = [], tags = [] } = dataOf(document);
    // Ghost shows tags such as `#newsletter` to nobody.
    const internal = tags.filter(({ visibility }: Row) => visibility === 'internal');
    const internalIds = new Set(internal.map((tag: Row) => tag.id));
    const names = new Map(tags.map((tag: Row) => [tag.id, tag.name]));
    const authorsOf = joined(posts_authors, (row) => row.author_id);
    const shown = posts_tags.filter((row: Row) => !internalIds.has(row.tag_id));
    const tagsOf = joined(shown, (row) => names.get(row.tag_id));
    return posts.map((post: Row) => {
      const authors = authorsOf.get(post.id) ?? [post.author_id ?? null];
      return { ...post, authors, tags: tagsOf.get(post.id) ?? [] };
    });
  },
};

export const users: Transform = ({ id, name, email }) => ({ id, name, email });

export const posts: Transform = (row, { instant }) => {
  const { id, title, slug, html, lexical, mobiledoc, status, visibility, type, tags } = row;
  const [authorId, ...coAuthors] = row.authors;
  // Without HTML, the body would be empty: keep the editor's format for you to convert.
  const source = html ? undefined : (lexical ?? mobiledoc ?? undefined);
  const isReady = ['published', 'scheduled'].includes(status) && source === undefined;
  const isPublic = isReady && visibility === 'public';
  const time = row.published_at && instant(row.published_at, { timeZone: 'UTC' });
  return {
    ...{
      id,
      title: title || '(untitled)',
      slug,
      body: withAddress(html),
      tags,
      type,
      status,
      visibility,
    },
    ...{
      authorId,
      coAuthors: coAuthors.length > 0 ? coAuthors : undefined,
      lexical: withAddress(source),
    },
    excerpt: row.custom_excerpt ?? undefined,
    image: withAddress(row.feature_image ?? undefined),
    publishedAt: isPublic ? (time ?? instant(row.published_at)) : null,
    originalDate: isPublic ? undefined : (time ?? undefined),
  };
};
