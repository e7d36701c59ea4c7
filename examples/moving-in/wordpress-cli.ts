// CSV files of WP-CLI: `wp user list` and `wp post list`.

import type { Transform } from 'rostrum/import';

export const users: Transform = (row) => {
  return { id: row.ID, name: row.display_name, email: row.user_email };
};

export const posts: Transform = (row, { instant }) => {
  if (['inherit', 'trash', 'auto-draft'].includes(row.post_status)) return null;
  const isPublic = ['publish', 'future'].includes(row.post_status) && row.post_password === '';
  return {
    id: row.ID,
    title: row.post_title || '(untitled)',
    body: row.post_content,
    slug: row.post_name || null,
    authorId: row.post_author === '0' ? null : row.post_author,
    publishedAt: isPublic ? instant(row.post_date_gmt, { timeZone: 'UTC' }) : null,
  };
};
