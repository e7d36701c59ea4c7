// CSV files of WP-CLI: `wp user list` and `wp post list`.

import type { Transform } from 'rostrum/import';

export const users: Transform = (row) => {
  return { id: row.ID, name: row.display_name, email: row.user_email };
};

export const posts: Transform = (row, { instant, leaveOut }) => {
  const { post_status: status, post_date_gmt: date } = row;
  if (['inherit', 'trash', 'auto-draft'].includes(status)) return leaveOut(status);
  const time = /^[1-9]/.test(date) ? instant(date, { timeZone: 'UTC' }) : undefined;
  // WordPress shows a post that it failed to publish in time to nobody.
  const isDue =
    status === 'publish' || (status === 'future' && `${time}` > new Date().toISOString());
  const isPublic = isDue && row.post_password === '';
  return {
    id: row.ID,
    title: row.post_title || '(untitled)',
    body: row.post_content,
    slug: row.post_name || null,
    authorId: row.post_author === '0' ? null : row.post_author,
    publishedAt: isPublic ? (time ?? instant(date)) : null,
    originalDate: isPublic ? undefined : time,
  };
};
