/** The fields that the blog adds to users and posts: their types, for the server and for the page. */
export const declaredFields = {
  users: { about: 'text' },
  posts: {
    /** The post's address: `/posts/SLUG`. */
    slug: { type: 'text', unique: true },
    /** Addresses that the post had before. They redirect. */
    formerSlugs: 'text[]',
    tags: 'text[]',
    /** `markdown`; absent for HTML, such as in imported posts. */
    format: 'text',
  },
} as const;
