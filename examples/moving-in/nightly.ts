// Articles of another system, repeated every night.

import type { Transform } from 'rostrum/import';

export const posts: Transform = ({ slug, headline, text, date }, { instant }) => {
  const createdAt = instant(date);
  return { id: slug, title: headline, body: text, createdAt, publishedAt: createdAt };
};
