/** A program with declared fields, for the compilers of users. */
export const setup = `import { createRostrum } from 'rostrum';
import { createMemoryStore } from 'rostrum/memory';
import { z } from 'zod';
const store = createMemoryStore({
  declaredFields: {
    posts: { slug: { type: 'text', unique: true }, tags: 'text[]', views: 'number', hot: 'boolean' },
    users: { city: 'text' },
  },
});
const { users, posts } = createRostrum(store);`;
/** Lines that compile. */
export const right: readonly string[] = [
  "() => posts.create({ title: 'x', slug: 'a', tags: ['a'], views: 1, hot: null, other: { free: [1] } })",
  "() => posts.patch('p', { slug: null, views: 2 })",
  "() => posts.update('p', (post) => ({ ...post, views: (post.views ?? 0) + 1 }))",
  "() => posts.list({ filter: { slug: 'a', tags: ['a', 'b'], views: { from: 1 }, hot: true, title: 'x' }, order: { by: 'views', direction: 'desc' } })",
  "() => posts.list({ filter: { slug: { startsWith: 'a' }, tags: undefined } })",
  "async () => ((await posts.get('p')).record.tags ?? []).map((tag) => tag.length)",
  "async () => (await posts.list({ fields: ['slug'] })).items[0]?.record.slug?.length",
  "() => users.listPublic({ filter: { city: 'x' } })",
  "() => createRostrum(store, { customFields: { posts: z.looseObject({ slug: z.enum(['a', 'b']) }) } }).posts.create({ title: 'x', slug: 'a' })",
  "() => createRostrum(store, { customFields: { users: z.strictObject({ city: z.string() }) } }).users.list({ fields: ['city'] })",
];
/** Lines that do not compile. */
export const wrong: readonly string[] = [
  // Inputs.
  "() => posts.create({ title: 'x', slug: 5 })",
  "() => posts.create({ title: 'x', views: '5' })",
  "() => posts.create({ title: 'x', hot: 'true' })",
  "() => posts.create({ title: 'x', tags: 'a' })",
  "() => posts.create({ title: 'x', tags: ['a', 1] })",
  "() => posts.create({ title: 'x', tags: [null] })",
  "() => users.saveOwn({ name: 'x', city: ['y'] })",
  "() => posts.replace('p', { title: 'x', views: true })",
  "() => posts.patch('p', { slug: { a: 1 } })",
  "() => posts.patch('p', { tags: { 0: 'a' } })",
  "() => posts.update('p', (post) => ({ ...post, views: String(post.views) }))",
  // Records.
  "async () => (await posts.get('p')).record.slug.length",
  "async () => (await posts.get('p')).record.views + 1",
  "async () => { const text: string | null | undefined = (await posts.get('p')).record.views; return text; }",
  // Filters.
  "() => posts.list({ filter: { slog: 'a' } })",
  "() => users.list({ filter: { slug: 'a' } })",
  '() => posts.list({ filter: { slug: 5 } })',
  "() => posts.list({ filter: { slug: { form: 'a' } } })",
  "() => posts.list({ filter: { views: '5' } })",
  "() => posts.list({ filter: { views: { startsWith: '5' } } })",
  '() => posts.list({ filter: { hot: { from: true } } })',
  "() => posts.list({ filter: { tags: { from: 'a' } } })",
  '() => posts.all({ filter: { tags: [1] } })',
  "() => posts.listWithAuthors({ filter: { custom: { slug: 'a' } } })",
  // Sorts.
  "() => posts.list({ order: { by: 'slog', direction: 'asc' } })",
  "() => posts.list({ order: { by: 'tags', direction: 'asc' } })",
  "() => posts.list({ order: { by: 'hot', direction: 'asc' } })",
  "() => users.list({ order: { by: 'views', direction: 'asc' } })",
  // Declarations.
  "() => createMemoryStore({ declaredFields: { posts: { tags: { type: 'text[]', unique: true } } } })",
  "() => createMemoryStore({ declaredFields: { posts: { hot: { type: 'boolean', unique: true } } } })",
  "() => createMemoryStore({ declaredFields: { posts: { title: 'text' } } })",
  "() => createMemoryStore({ declaredFields: { users: { email: 'text' } } })",
  "() => createMemoryStore({ declaredFields: { posts: { words: 'text' } } })",
  "() => createMemoryStore({ declaredFields: { posts: { slug: 'string' } } })",
  "() => createMemoryStore({ declaredFields: { post: { slug: 'text' } } })",
  "() => createMemoryStore({ customFilters: { posts: { slug: 'text' } } })",
  // Positions, and fields that no record has.
  "() => posts.all({ after: { key: null, id: 'p' } })",
  "() => createRostrum(store, { customFields: { users: z.strictObject({ city: z.string() }) } }).users.list({ fields: ['town'] })",
  // Schemas that clash with the declaration.
  '() => createRostrum(store, { customFields: { posts: z.looseObject({ slug: z.number() }) } })',
  '() => createRostrum(store, { customFields: { users: z.strictObject({ town: z.string() }) } })',
];
