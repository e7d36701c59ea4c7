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

// What does not compile stands beside a twin that does: each `@ts-expect-error` fails the check of
// types when its line compiles, and the twin fails it when nothing would. None of these lines runs.

type Line = () => unknown;
type Pair = readonly [what: string, right: Line, wrong: Line];

const born = z.strictObject({
  born: z.int(),
  tag: z.string().optional(),
  home: z.strictObject({ city: z.string(), zip: z.string().optional() }).optional(),
});
const form = z.discriminatedUnion('form', [
  z.strictObject({ form: z.literal('text'), words: z.int(), slug: z.string() }),
  z.strictObject({ form: z.literal('image'), url: z.string() }),
]);
const store = createMemoryStore({
  customFilters: { posts: { slug: 'text', words: 'number' }, users: { born: 'number' } },
});
const { users, posts, as } = createRostrum(store, { customFields: { users: born, posts: form } });
const open = createMemoryStore();
const free = createRostrum(open);
const error: unknown = undefined;
const only = [1];

const inputs: readonly Pair[] = [
  [
    'a required field that is misspelt',
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
    'what is no JSON',
    () => free.users.create({ name: 'x', at: '2026-11-21' }),
    // @ts-expect-error
    () => free.users.create({ name: 'x', at: new Date() }),
  ],
  [
    'a custom field that is misspelt',
    () => users.create({ name: 'x', born: 1, tag: 'y' }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1, tga: 'y' }),
  ],
  [
    'a custom field that is missing',
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
    'a field of a custom field that is misspelt',
    () => users.create({ name: 'x', born: 1, home: { city: 'y', zip: 'z' } }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1, home: { city: 'y', zpi: 'z' } }),
  ],
  [
    'a field of another arm of a union',
    () => posts.create({ title: 'x', form: 'image', url: '/y' }),
    // @ts-expect-error
    () => posts.create({ title: 'x', form: 'text', url: '/y' }),
  ],
  [
    'an option of a creation that is misspelt',
    () => users.create({ name: 'x', born: 1 }, { idempotencyKey: undefined }),
    // @ts-expect-error
    () => users.create({ name: 'x', born: 1 }, { idempotencykey: 'k' }),
  ],
];

const changes: readonly Pair[] = [
  [
    'a version for a precondition',
    () => posts.delete('p', { only }),
    // @ts-expect-error
    () => posts.delete('p', 1),
  ],
  [
    'one version for a list of them',
    () => users.patch('u', {}, { only }),
    // @ts-expect-error
    () => users.patch('u', {}, { only: 1 }),
  ],
  [
    'a precondition that is misspelt',
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
    'a text for a patch',
    () => free.users.patch('u', { name: 'text' }),
    // @ts-expect-error
    () => free.users.patch('u', 'text'),
  ],
  [
    'a patch of a custom field that is misspelt',
    () => users.patch('u', { born: 1 }),
    // @ts-expect-error
    () => users.patch('u', { bron: 1 }),
  ],
  [
    'a surplus field behind a spread',
    () => users.update('u', (user) => ({ ...user, born: user.born + 1 })),
    // @ts-expect-error
    () => users.update('u', (user) => ({ ...user, bron: user.born + 1 })),
  ],
  [
    'a change that leaves out a custom field',
    () => users.update('u', ({ name, born }) => ({ name, born })),
    // @ts-expect-error
    () => users.update('u', ({ name }) => ({ name })),
  ],
  [
    'a change that is asynchronous',
    () => free.users.update('u', (user) => user),
    // @ts-expect-error
    () => free.users.update('u', async (user) => user),
  ],
  [
    'a change of what it is shown',
    () => users.update('u', (user) => ({ ...user, born: 1 })),
    () =>
      users.update('u', (user) => {
        // @ts-expect-error
        user.born = 1;
        return user;
      }),
  ],
  [
    'a mode in place of options',
    () => users.delete('u', { posts: 'keep', only }),
    // @ts-expect-error
    () => users.delete('u', 'keep'),
  ],
  [
    'a mode that is not known',
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
    'a filter that is misspelt',
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
    'a custom filter that is misspelt',
    () => posts.list({ filter: { custom: { slug: 'x', words: undefined } } }),
    // @ts-expect-error
    () => posts.list({ filter: { custom: { slog: 'x' } } }),
  ],
  [
    'a custom filter of another type',
    () => posts.list({ filter: { custom: { words: 5 } } }),
    // @ts-expect-error
    () => posts.list({ filter: { custom: { words: '5' } } }),
  ],
  [
    'a custom filter of the other collection',
    () => users.all({ filter: { custom: { born: 1815 } } }),
    // @ts-expect-error
    () => posts.all({ filter: { custom: { born: 1815 } } }),
  ],
  [
    'a custom filter where none is declared',
    () => free.posts.list({ filter: { custom: {} } }),
    // @ts-expect-error
    () => free.posts.list({ filter: { custom: { slug: 'x' } } }),
  ],
  [
    'a sort that the collection has not',
    () => posts.list({ order: { by: 'title', direction: 'asc' } }),
    // @ts-expect-error
    () => posts.list({ order: { by: 'name', direction: 'asc' } }),
  ],
  [
    'the sign of HTTP for a direction',
    () => users.list({ order: { by: 'name', direction: 'desc' } }),
    // @ts-expect-error
    () => users.list({ order: '-name' }),
  ],
  [
    'a cursor of HTTP for a position',
    async () => users.list({ after: (await users.list()).next }),
    // @ts-expect-error
    () => users.list({ after: 'eyJrIjoi' }),
  ],
  [
    'a total of a walk',
    () => users.all({ limit: 10 }),
    // @ts-expect-error
    () => users.all({ total: true }),
  ],
];

const records: readonly Pair[] = [
  [
    'a field that no record has',
    async () => (await users.get('u')).record.email,
    // @ts-expect-error
    async () => (await users.get('u')).record.emial,
  ],
  [
    'a field that only one arm of a union has',
    async () => (await posts.get('p')).record.form,
    // @ts-expect-error
    async () => (await posts.get('p')).record.url,
  ],
  [
    'a field of a record that may have been left out',
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
    'a schema that names a field of a user',
    () => createRostrum(open, { customFields: { users: z.strictObject({ nick: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(open, { customFields: { users: z.strictObject({ name: z.string() }) } }),
  ],
  [
    'a schema that returns no JSON',
    () => createRostrum(open, { customFields: { posts: z.looseObject({ at: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(open, { customFields: { posts: z.looseObject({ at: z.date() }) } }),
  ],
  [
    'a filter that no record passes, by the schema',
    () => createRostrum(store, { customFields: { users: z.looseObject({ tag: z.string() }) } }),
    // @ts-expect-error
    () => createRostrum(store, { customFields: { users: z.strictObject({ tag: z.string() }) } }),
  ],
  [
    'custom fields that no schema says',
    (): Rostrum => createRostrum(open),
    // @ts-expect-error
    (): Rostrum<{ born: number }> => createRostrum(open),
  ],
  [
    'a store for a core',
    (): AnyRostrum => createRostrum(store),
    // @ts-expect-error
    (): AnyRostrum => store,
  ],
  [
    'a scope that there is not',
    () => as({ name: 'x', subject: null, scopes: ['posts:read'] }),
    // @ts-expect-error
    () => as({ name: 'x', subject: null, scopes: ['posts:raed'] }),
  ],
  [
    'services around which one is forgotten',
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
    'a part of the container of another type',
    () => override(tokens.clock, () => ({ now: () => '2001-01-01T00:00:00.000Z' })),
    // @ts-expect-error
    () => override(tokens.store, () => ({ now: () => '2001-01-01T00:00:00.000Z' })),
  ],
];

/** What compiles all the same, and what refuses it when it runs. */
const beyond: readonly [what: string, call: () => Promise<unknown>, error: string][] = [
  [
    'a surplus field of a variable',
    () => {
      const input = { name: 'x', born: 1, bron: 2 };
      return users.create(input);
    },
    'invalid-record',
  ],
  [
    'a surplus field in one branch of a change',
    async () => {
      const { id } = (await users.create({ name: 'x', born: 1 })).record;
      return users.update(id, (user) => (user.born > 0 ? { ...user, bron: 2 } : user));
    },
    'invalid-record',
  ],
  ['a number that no page can have', () => users.list({ limit: 0 }), 'RangeError'],
  [
    'a text that is no instant',
    () => users.list({ filter: { createdAt: { from: 'yesterday' } } }),
    'TypeError',
  ],
];

describe('50 misuses of the library', () => {
  const refused = { inputs, changes, lists, records, parts };

  it('do not compile, but for four', () => {
    const whats = Object.values(refused).flatMap((pairs) => pairs.map(([what]) => what));
    expect(new Set(whats)).to.have.property('size', 46);
    expect(beyond).to.have.length(4);
  });

  for (const [what, call, expected] of beyond) {
    it(`compile and are refused when they run: ${what}`, async () => {
      const found = await errorOf(call());
      expect(isRostrumError(found) ? found.code : (found as Error).name).to.equal(expected);
    });
  }
});
