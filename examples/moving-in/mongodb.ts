// Extended JSON of mongoexport. `author` is the _id of a user, and `published` is a flag: change the last
// lines to fit your documents.

import type { Row, Transform } from 'rostrum/import';

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const members = Object.entries(value).map(([name, member]) => [name, plain(member)] as const);
  const [name = '', member] = members[0] ?? [];
  if (name === '$oid') return member;
  if (name === '$date') return typeof member === 'number' ? new Date(member).toISOString() : member;
  if (name.startsWith('$number')) return Number(member);
  return Object.fromEntries(members);
}

export const users: Transform = (row) => {
  const { _id, ...user } = plain(row) as Row;
  return { ...user, id: _id };
};

export const posts: Transform = (row) => {
  const { _id, author, published, ...post } = plain(row) as Row;
  return {
    ...post,
    id: _id,
    authorId: author,
    publishedAt: published === true ? post.createdAt : null,
  };
};
