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

export const posts: Transform = (row, { instant, leaveOut }) => {
  const status = row.Status.toLowerCase();
  if (['inherit', 'trash', 'auto-draft'].includes(status)) return leaveOut(status);
  const time = /^[1-9]/.test(row.Date) ? instant(row.Date, { timeZone }) : undefined;
  // WordPress shows a post that it failed to publish in time to nobody.
  const isDue =
    status === 'publish' || (status === 'future' && `${time}` > new Date().toISOString());
  const isPublic = isDue && row['Post Password'] === '';
  return {
    id: row.ID,
    title: row.Title || '(untitled)',
    body: row.Content,
    slug: row.Slug || null,
    tags: row.Tags.split('|').filter(Boolean),
    authorId: { email: row['Author Email'] },
    publishedAt: isPublic ? (time ?? instant(row.Date)) : null,
    originalDate: isPublic ? undefined : time,
  };
};
