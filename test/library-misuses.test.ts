import { expect } from 'chai';
import { z } from 'zod';
import { override, tokens } from '../src/adapters/inversify/index.ts';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import {
  type AnyRostrum,
  createRostrum,
  isRostrumError,
  type Rostrum,
  type UserService,
} from '../src/index.ts';
import { errorOf } from './support/error-of.ts';

// Pairs of a correct call and a misuse, which must not compile. If a misuse compiles, its `@ts-expect-error`
// fails the type check; if everything stops compiling, the correct call fails it. None of these lines runs.

type Line = () => unknown;
type Pair = readonly [what: string, right: Line, wrong: Line];

const born = z.strictObject({
  born: z.int(),
  tag: z.string().optional(),
  home: z.strictObject({ city: z.string(), zip: z.string().optional() }).optional(),
});
const form = z.discriminatedUnion('form', [
  z.strictObject({ form: z.literal('text'), pages: z.int(), slug: z.string() }),
  z.strictObject({ form: z.literal('image'), url: z.string() }),
]);
const store = createMemoryStore({
  declaredFields: { posts: { slug: 'text', pages: 'number' }, users: { born: 'number' } },
});
const { users, posts, as } = createRostrum(store, { customFields: { users: born, posts: form } });
const open = createMemoryStore();
const free = createRostrum(open);
const error: unknown = undefined;
const only = [1];

const inputs: readonly Pair[] = [
  [
    'a misspelled required field',
    () => free.users.create({ name: 'x' }),
    // @ts-expect-error
    () => free.users.create({ nmae: 'x' }),
  ],
  [
    'a known field of another type',
    () => free.users.create({ name: 'x', email: null }),
    // @ts-expect-error
    () => free.users.create({ name: 'x', email: 5 }),
  ],
  [
    'a value that is not JSON',
    () => free.users.create({ name: 'x', at: '2026-11-21' }),
    // @ts-expect-error
    () => free.users.create({ name: 'x', at: new Date() }),
  ],
  [
    'a misspelled custom field',
    () => users.create({ name: 'x', born: 1, tag: 'y' }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1, tga: 'y' }),
  ],
  [
    'a missing custom field',
    () => users.create({ name: 'x', born: 1 }),
    // @ts-expect-error
    () => users.create({ name: 'x' }),
  ],
  [
    'a custom field of another type',
    () => users.replace('u', { name: 'x', born: 1 }),
    // @ts-expect-error
    () => users.replace('u', { name: 'x', born: '1' }),
  ],
  [
    'a misspelled field inside a custom field',
    () => users.create({ name: 'x', born: 1, home: { city: 'y', zip: 'z' } }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1, home: { city: 'y', zpi: 'z' } }),
  ],
  [
    'a field of another member of a union',
    () => posts.create({ title: 'x', form: 'image', url: '/y' }),
    // @ts-expect-error
    () => posts.create({ title: 'x', form: 'text', url: '/y' }),
  ],
  [
    'a misspelled option of a creation',
    () => users.create({ name: 'x', born: 1 }, { idempotencyKey: undefined }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1 }, { idempotencykey: 'k' }),
  ],
];

const changes: readonly Pair[] = [
  [
    'a version instead of a precondition',
    () => posts.delete('p', { only }),
    // @ts-expect-error
    () => posts.delete('p', 1),
  ],
  [
    'a version instead of a list of versions',
    () => users.patch('u', {}, { only }),
    // @ts-expect-error
    () => users.patch('u', {}, { only: 1 }),
  ],
  [
    'a misspelled precondition',
    () => users.patch('u', {}, { except: only }),
    // @ts-expect-error
    () => users.patch('u', {}, { expect: only }),
  ],
  [
    'null for a required field',
    () => free.users.patch('u', { email: null }),
    // @ts-expect-error
    () => free.users.patch('u', { name: null }),
  ],
  [
    'null for a required custom field',
    () => users.patch('u', { tag: null, home: { zip: null } }),
    // @ts-expect-error
    () => users.patch('u', { born: null }),
  ],
  [
    'a string instead of a patch',
    () => free.users.patch('u', { name: 'text' }),
    // @ts-expect-error
    () => free.users.patch('u', 'text'),
  ],
  [
    'a misspelled custom field in a patch',
    () => users.patch('u', { born: 1 }),
    // @ts-expect-error
    () => users.patch('u', { bron: 1 }),
  ],
  [
    'an unknown field after a spread',
    () => users.update('u', (user) => ({ ...user, born: user.born + 1 })),
    // @ts-expect-error
    () => users.update('u', (user) => ({ ...user, bron: user.born + 1 })),
  ],
  [
    'an update that omits a custom field',
    () => users.update('u', ({ name, born }) => ({ name, born })),
    // @ts-expect-error
    () => users.update('u', ({ name }) => ({ name })),
  ],
  [
    'an asynchronous update',
    () => free.users.update('u', (user) => user),
    // @ts-expect-error
    () => free.users.update('u', async (user) => user),
  ],
  [
    'an update that mutates the current record',
    () => users.update('u', (user) => ({ ...user, born: 1 })),
    () =>
      users.update('u', (user) => {
        // @ts-expect-error
        user.born = 1;
        return user;
      }),
  ],
  [
    'a mode instead of options',
    () => users.delete('u', { posts: 'keep', only }),
    // @ts-expect-error
    () => users.delete('u', 'keep'),
  ],
  [
    'an unknown mode',
    () => users.delete('u', { posts: 'delete' }),
    // @ts-expect-error
    () => users.delete('u', { posts: 'remove' }),
  ],
  [
    'a mode for a post',
    () => posts.delete('p'),
    // @ts-expect-error
    () => posts.delete('p', { posts: 'keep' }),
  ],
];

const lists: readonly Pair[] = [
  [
    'a misspelled filter',
    () => users.list({ filter: { name: 'x' } }),
    // @ts-expect-error
    () => users.list({ filter: { nmae: 'x' } }),
  ],
  [
    'a filter of the other collection',
    () => posts.list({ filter: { title: 'x' } }),
    // @ts-expect-error
    () => users.list({ filter: { title: 'x' } }),
  ],
  [
    'a misspelled custom filter',
    () => posts.list({ filter: { slug: 'x', pages: undefined } }),
    // @ts-expect-error
    () => posts.list({ filter: { slog: 'x' } }),
  ],
  [
    'a custom filter of another type',
    () => posts.list({ filter: { pages: 5 } }),
    // @ts-expect-error
    () => posts.list({ filter: { pages: '5' } }),
  ],
  [
    'a custom filter of the other collection',
    () => users.all({ filter: { born: 1815 } }),
    // @ts-expect-error
    () => posts.all({ filter: { born: 1815 } }),
  ],
  [
    'a custom filter that is not declared',
    () => free.posts.list({ filter: {} }),
    // @ts-expect-error
    () => free.posts.list({ filter: { slug: 'x' } }),
  ],
  [
    'a sort field of the other collection',
    () => posts.list({ order: { by: 'title', direction: 'asc' } }),
    // @ts-expect-error
    () => posts.list({ order: { by: 'name', direction: 'asc' } }),
  ],
  [
    'the sort syntax of HTTP',
    () => users.list({ order: { by: 'name', direction: 'desc' } }),
    // @ts-expect-error
    () => users.list({ order: '-name' }),
  ],
  [
    'an HTTP cursor instead of a position',
    async () => users.list({ after: (await users.list()).next }),
    // @ts-expect-error
    () => users.list({ after: 'eyJrIjoi' }),
  ],
  [
    'a position with all()',
    () => posts.all({ limit: 10 }),
    // @ts-expect-error
    () => posts.all({ after: { key: null, id: 'p' } }),
  ],
  [
    'a field in "fields" that no record has',
    () => [posts.list({ fields: ['slug', 'url', 'body'] }), free.posts.list({ fields: ['any'] })],
    // @ts-expect-error
    () => posts.list({ fields: ['slug', 'ulr'] }),
  ],
  [
    'a total with all()',
    () => users.all({ limit: 10 }),
    // @ts-expect-error
    () => users.all({ total: true }),
  ],
];

const records: readonly Pair[] = [
  [
    'an unknown field of a record',
    async () => (await users.get('u')).record.email,
    // @ts-expect-error
    async () => (await users.get('u')).record.emial,
  ],
  [
    'a field of only one member of a union',
    async () => (await posts.get('p')).record.form,
    // @ts-expect-error
    async () => (await posts.get('p')).record.url,
  ],
  [
    'a field that was not selected',
    async () => (await users.list()).items[0]?.record.born.toFixed(),
    // @ts-expect-error
    async () => (await users.list({ fields: ['name'] })).items[0]?.record.born.toFixed(),
  ],
  [
    'a detail of another error',
    () => isRostrumError(error, 'user-has-posts') && error.details.posts,
    // @ts-expect-error
    () => isRostrumError(error, 'user-not-found') && error.details.posts,
  ],
];

const parts: readonly Pair[] = [
  [
    'a schema with a built-in field',
    () => createRostrum(open, { customFields: { users: z.strictObject({ nick: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(open, { customFields: { users: z.strictObject({ name: z.string() }) } }),
  ],
  [
    'a schema with values that are not JSON',
    () => createRostrum(open, { customFields: { posts: z.looseObject({ at: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(open, { customFields: { posts: z.looseObject({ at: z.date() }) } }),
  ],
  [
    'a filter on a field that the schema does not have',
    () => createRostrum(store, { customFields: { users: z.looseObject({ tag: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(store, { customFields: { users: z.strictObject({ tag: z.string() }) } }),
  ],
  [
    'custom fields without a schema',
    (): Rostrum => createRostrum(open),
    // @ts-expect-error
    (): Rostrum<{ born: number }> => createRostrum(open),
  ],
  [
    'a store instead of a Rostrum',
    (): AnyRostrum => createRostrum(store),
    // @ts-expect-error
    (): AnyRostrum => store,
  ],
  [
    'an unknown scope',
    () => as({ name: 'x', subject: null, scopes: ['posts:read'] }),
    // @ts-expect-error
    () => as({ name: 'x', subject: null, scopes: ['posts:raed'] }),
  ],
  [
    'an around function that forgets a service',
    () => createRostrum(open, { around: ({ users, posts }) => ({ users, posts }) }),
    // @ts-expect-error
    () => createRostrum(open, { around: ({ users }) => ({ users }) }),
  ],
  [
    'a fake that lacks a method',
    () => free.users satisfies UserService,
    // @ts-expect-error
    () => ({ ...free.users, get: undefined }) satisfies UserService,
  ],
  [
    'a name instead of a token',
    () => override(tokens.ids, () => ({ next: () => 'x' })),
    // @ts-expect-error
    () => override('ids', () => ({ next: () => 'x' })),
  ],
  [
    'an override with the wrong type',
    () => override(tokens.clock, () => ({ now: () => '2001-01-01T00:00:00.000Z' })),
    // @ts-expect-error
    () => override(tokens.store, () => ({ now: () => '2001-01-01T00:00:00.000Z' })),
  ],
];

/** Misuses that compile, and the error that rejects them at runtime. */
const beyond: readonly [what: string, call: () => Promise<unknown>, error: string][] = [
  [
    'an unknown field in a variable',
    () => {
      const input = { name: 'x', born: 1, bron: 2 };
      return users.create(input);
    },
    'invalid-record',
  ],
  [
    'an unknown field in one branch of an update',
    async () => {
      const { id } = (await users.create({ name: 'x', born: 1 })).record;
      return users.update(id, (user) => (user.born > 0 ? { ...user, bron: 2 } : user));
    },
    'invalid-record',
  ],
  ['an invalid limit', () => users.list({ limit: 0 }), 'RangeError'],
  [
    'an invalid time',
    () => users.list({ filter: { createdAt: { from: 'yesterday' } } }),
    'TypeError',
  ],
];

describe('53 misuses of the library', () => {
  const refused = { inputs, changes, lists, records, parts };

  it('do not compile, except four', () => {
    const whats = Object.values(refused).flatMap((pairs) => pairs.map(([what]) => what));
    expect(new Set(whats)).to.have.property('size', 49);
    expect(beyond).to.have.length(4);
  });

  for (const [what, call, expected] of beyond) {
    it(`compile but are rejected at runtime: ${what}`, async () => {
      const found = await errorOf(call());
      expect(isRostrumError(found) ? found.code : (found as Error).name).to.equal(expected);
    });
  }
});
