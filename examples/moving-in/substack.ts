// posts.csv of a Substack export, and the folder `posts` beside it.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Transform } from 'rostrum/import';

export const posts: Transform = async (row, { file, instant }) => {
  const isPublic = row.is_published.toLowerCase() === 'true' && row.audience === 'everyone';
  const time = row.post_date && instant(row.post_date, { timeZone: 'UTC' });
  const html = await readFile(join(dirname(file), 'posts', `${row.post_id}.html`));
  return {
    id: row.post_id,
    title: row.title || '(untitled)',
    subtitle: row.subtitle || undefined,
    body: new TextDecoder('utf-8', { fatal: true }).decode(html),
    type: row.type,
    audience: row.audience,
    publishedAt: isPublic ? time || instant(row.post_date) : null,
    originalDate: isPublic ? undefined : time || undefined,
  };
};
