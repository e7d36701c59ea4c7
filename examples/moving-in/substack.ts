// posts.csv of a Substack export, and the folder `posts` beside it.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Transform } from 'rostrum/import';

export const posts: Transform = async (row, { file, instant }) => {
  const isPublic = row.is_published.toLowerCase() === 'true' && row.audience === 'everyone';
  return {
    id: row.post_id,
    title: row.title || '(untitled)',
    subtitle: row.subtitle || undefined,
    body: await readFile(join(dirname(file), 'posts', `${row.post_id}.html`), 'utf8'),
    type: row.type,
    audience: row.audience,
    publishedAt: isPublic ? instant(row.post_date, { timeZone: 'UTC' }) : null,
  };
};
