/** The fields that the blog adds to users and posts: their types, for the server and for the page. */
export const declaredFields = {
  users: { about: 'text' },
  posts: { slug: { type: 'text', unique: true }, tags: 'text[]' },
} as const;
