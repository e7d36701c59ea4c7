// outbox.json of a Mastodon archive. Posts have no titles, so the title is the beginning of the text.

import type { Row, Source, Transform } from 'rostrum/import';

export const source: Source = {
  posts: ({ orderedItems }) =>
    orderedItems.map(({ type, object }: Row) => ({ ...Object(object), activity: type })),
};

const everybody = 'https://www.w3.org/ns/activitystreams#Public';

export const posts: Transform = (row, { instant }) => {
  if (row.activity !== 'Create') return null; // Something that you boosted.
  const text = (row.content ?? '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const isPublic = [row.to, row.cc].flat().includes(everybody);
  const hashtags = (row.tag ?? []).filter(({ type }: Row) => type === 'Hashtag');
  return {
    id: row.id.split('/').at(-1),
    title: [...text].slice(0, 80).join('') || '(no text)',
    body: row.content,
    url: row.url,
    tags: hashtags.map(({ name }: Row) => name.replace('#', '')),
    warning: row.summary ?? undefined,
    attachments: row.attachment?.length > 0 ? row.attachment : undefined,
    publishedAt: isPublic ? instant(row.published) : null,
    originalDate: isPublic ? undefined : instant(row.published),
  };
};
