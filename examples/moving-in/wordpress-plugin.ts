// One CSV file of a WordPress export plugin. TIME_ZONE is the time zone of the blog.

import type { Transform } from 'rostrum/import';

const timeZone = process.env.TIME_ZONE;
const seen = new Set<string>();

export const users: Transform = (row) => {
  const email = row['Author Email'].toLowerCase();
  if (email === '' || seen.has(email)) return null;
  seen.add(email);
  return { name: row['Author Display Name'] || email, email };
};

export const posts: Transform = (row, { instant }) => {
  const status = row.Status.toLowerCase();
  if (['inherit', 'trash', 'auto-draft'].includes(status)) return null;
  const isPublic = ['publish', 'future'].includes(status) && row['Post Password'] === '';
  return {
    id: row.ID,
    title: row.Title || '(untitled)',
    body: row.Content,
    slug: row.Slug || null,
    tags: row.Tags.split('|').filter(Boolean),
    authorId: { email: row['Author Email'] },
    publishedAt: isPublic ? instant(row.Date, { timeZone }) : null,
  };
};
