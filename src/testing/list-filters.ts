import assert from 'node:assert/strict';
import {
  type CustomFilter,
  type EntityFilter,
  type PostFilter,
  type UserFilter,
  userSorts,
} from '../domain/list.ts';
import type { Entity } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import { at, later, post, times, user } from './fixtures.ts';
import { idsOf, type Lister, matches, put, walk } from './lists.ts';
import type { Suite } from './suite.ts';

/** Texts that some collation, pattern or query takes for one another; one of them is there twice. */
export const texts = [
  ...[
    'Ada',
    'ada',
    'ADA',
    'Ada ',
    'Ada L',
    'Ad',
    'Adá',
    'Ada\u0301',
    '%',
    '.*',
    '$ne',
    '😀',
    'Ada',
  ],
  // As U+FFFD, half of a surrogate pair often comes out of a driver.
  'Ada\ufffd',
];

/** Texts that no record has. */
export const unknownTexts = ['A%', 'Ada\0', 'Ada\ud800', '\0', '\ud800'];

/** Each filter, and filters together. */
export function describeFilters(suite: Suite): void {
  describeEntityFilters(suite);
  describeUserFilters(suite);
  describePostFilters(suite);
}

function describeEntityFilters({ both }: Suite): void {
  both('a filter that says nothing matches all', async ({ records, make }) => {
    const ids = await put(records, [make(), make()]);
    const silent: EntityFilter = { ids: undefined, createdAt: {}, updatedAt: undefined };
    for (const filter of [{}, silent, { createdAt: { from: undefined, before: undefined } }]) {
      await matches(records, filter, ids);
    }
  });

  both('ids: any of these, whatever else is named', async ({ records, make }) => {
    const made = [make(), make(), make({ id: '\ufffd' })];
    const [a = '', b = '', c = ''] = await put(records, made);
    await matches(records, { ids: [c, a] }, [a, c]);
    await matches(records, { ids: [b, b, 'none', b, '', '__proto__'] }, [b]);
    await matches(records, { ids: ['\0', '\ud800', `${a}\0`, `${b}\ud800`] }, []);
    await matches(records, { ids: [] }, []);
    const unknown = times(97, (n) => `none-${n}`);
    await matches(records, { ids: [...unknown, c, b, a] }, [a, b, c]);
  });

  for (const field of ['createdAt', 'updatedAt'] as const) {
    both(`a span of ${field} has its first moment and not its last`, async ({ records, make }) => {
      const made = times(4, (n) => make({ createdAt: at(n), [field]: at(n) }));
      const [a = '', b = '', c = '', d = ''] = await put(records, made);
      const span = (from?: string, before?: string): EntityFilter => ({
        [field]: { from, before },
      });
      await matches(records, span(at(1), at(3)), [b, c]);
      await matches(records, span(at(2)), [c, d]);
      await matches(records, span(undefined, at(2)), [a, b]);
      await matches(records, span(at(2), at(2)), []);
      await matches(records, span(at(3), at(1)), []);
      await matches(records, span(at(4)), []);
      await matches(records, span(undefined, at(0)), []);
      // No record has such a moment: it lies just behind the one that it begins with.
      for (const strange of ['\0', '\ud800']) {
        await matches(records, span(`${at(1)}${strange}`), [c, d]);
        await matches(records, span(undefined, `${at(1)}${strange}`), [a, b]);
      }
    });
  }

  both('createdAt and updatedAt are two fields', async ({ records, make }) => {
    const [id = ''] = await put(records, [make({ createdAt: at(0), updatedAt: at(9) })]);
    const filter = { createdAt: { before: at(1) }, updatedAt: { from: at(9) } };
    await matches(records, filter, [id]);
    await matches(records, { updatedAt: { before: at(9) } }, []);
    await matches(records, { createdAt: { from: at(1) } }, []);
  });
}

function describeUserFilters({ test }: Suite): void {
  test('users: name: the whole name, exactly', async ({ users }) => {
    const named = texts.map((name) => [name, user({ name })] as const);
    await findsEach(users, named, [...texts, ...unknownTexts, ''], (name) => ({ name }));
  });

  test('users: email: an address with the same key', async ({ users }) => {
    const emails = ['Éva@example.com', 'eva@example.com', null, 'eva@example.com\ufffd'];
    const [one = '', two = ''] = await put(
      users,
      emails.map((email) => user({ email })),
    );
    for (const email of ['Éva@example.com', 'éVA@EXAMPLE.com', 'E\u0301va@example.com']) {
      await matches(users, { email }, [one]);
    }
    await matches(users, { email: 'EVA@example.com' }, [two]);
    for (const email of ['eva@example', '', 'eva@example.com\0', 'eva@example.com\ud800']) {
      await matches(users, { email }, []);
    }
  });

  test('users: all that a filter says must hold', async ({ users }) => {
    const custom = { city: 'en', age: 5, active: false };
    const [one, two] = [user(custom), user({ city: 'fr', age: 6, active: true })];
    await put(users, [one, two, user({ ...custom, name: one.name })]);
    const { name, createdAt, updatedAt } = one;
    const whole: UserFilter = {
      ...{ name, email: one.email ?? '', ids: [one.id, two.id], custom },
      ...{ createdAt: { from: createdAt }, updatedAt: { before: two.updatedAt } },
    };
    await allMustHold(users, whole, one.id, [
      ...[{ name: two.name }, { email: two.email ?? '' }, { ids: [two.id] }],
      ...[{ createdAt: { before: createdAt } }, { updatedAt: { before: updatedAt } }],
      ...['city', 'age', 'active'].map((n) => ({ custom: { ...custom, [n]: two[n] as string } })),
    ]);
  });

  test('users: lists follow a user who changes, and one who goes', async ({ users }) => {
    const [one, two] = [user({ name: 'A', city: 'en' }), user({ name: 'B' })];
    const moments = { createdAt: later, updatedAt: later };
    const changed = { ...one, ...moments, name: 'C', email: 'ß@example.com', city: 'fr' };
    await put(users, [one, two]);
    await users.update(one.id, () => changed);
    await users.update(two.id, ({ record }) => ({ ...record, city: 'en' }));
    for (const is of [{ name: 'C' }, { email: 'ß@example.com' }, { custom: { city: 'fr' } }]) {
      await matches(users, is, [one.id]);
    }
    for (const was of [{ name: 'A' }, { email: one.email ?? '' }]) await matches(users, was, []);
    await matches(users, { custom: { city: 'en' } }, [two.id]);
    for (const by of userSorts) {
      const walked = await walk(users, { order: { by, direction: 'asc' } });
      assert.deepEqual(idsOf(walked), [two.id, one.id], `by ${by}`);
    }
    await users.delete(one.id, 'refuse', later);
    for (const was of [{ name: 'C' }, { custom: { city: 'fr' } }]) await matches(users, was, []);
    await matches(users, {}, [two.id]);
  });
}

function describePostFilters({ test }: Suite): void {
  test('posts: title: the whole title, exactly', async ({ posts }) => {
    const titled = texts.map((title) => [title, post({ title })] as const);
    await findsEach(posts, titled, [...texts, ...unknownTexts, ''], (title) => ({ title }));
  });

  test('posts: authorId: the posts of one author, or of nobody', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await matches(store.posts, { authorId: one }, [a, b]);
    await matches(store.posts, { authorId: two }, [c]);
    await matches(store.posts, { authorId: null }, [d]);
    await matches(store.posts, { authorId: undefined }, ids);
    await put(store.users, [user({ id: `${one}\ufffd` })]);
    await put(store.posts, [post({ authorId: `${one}\ufffd` })]);
    for (const authorId of ['nobody', '', '\0', `${one}\0`, `${one}\ud800`, 'null']) {
      await matches(store.posts, { authorId }, []);
    }
  });

  test('posts: all that a filter says must hold', async (store) => {
    const { one, two, made } = await postsOfTwo(store);
    const [a, b, c] = made;
    const { id, title, createdAt, updatedAt, language, words, pinned } = a;
    const custom = { language, words, pinned } as CustomFilter;
    const whole: PostFilter = {
      ...{ authorId: one, title, ids: idsOf([a, b, c]), custom },
      ...{ createdAt: { before: b.createdAt }, updatedAt: { from: updatedAt } },
    };
    await allMustHold(store.posts, whole, id, [
      ...[{ authorId: two }, { authorId: null }, { title: b.title }, { ids: [b.id] }],
      ...[{ createdAt: { before: createdAt } }, { updatedAt: { before: updatedAt } }],
      ...['language', 'words', 'pinned'].map((n) => ({
        custom: { ...custom, [n]: c[n] as string },
      })),
    ]);
  });

  test('posts: lists follow a post that moves, and one that goes', async (store) => {
    const { posts } = store;
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    const changed = {
      title: 'Changed',
      authorId: two,
      createdAt: later,
      updatedAt: later,
      words: 7,
    };
    await posts.update(a, ({ record }) => ({ ...record, ...changed }));
    await posts.update(b, ({ record }) => ({ ...record, authorId: null }));
    await matches(posts, { authorId: one }, []);
    await matches(posts, { authorId: two }, [c, a]);
    await matches(posts, { authorId: null }, [b, d]);
    for (const is of [{ title: 'Changed' }, { custom: { words: 7 } }])
      await matches(posts, is, [a]);
    await matches(posts, { custom: { words: 0.1 } }, [b, d]);
    const walked = await walk(posts, { order: { by: 'updatedAt', direction: 'asc' } });
    assert.deepEqual(idsOf(walked), [b, c, d, a]);
    await posts.delete(a);
    for (const was of [{ title: 'Changed' }, { custom: { words: 7 } }])
      await matches(posts, was, []);
    await matches(posts, { authorId: two }, [c]);
  });

  test('posts: lists follow posts whose author is deleted', async (store) => {
    const { users, posts } = store;
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await users.delete(one, 'keep', later);
    await matches(posts, { authorId: one }, []);
    await matches(posts, { authorId: null }, [a, b, d]);
    await matches(posts, { authorId: null, updatedAt: { from: later } }, [a, b]);
    const custom = { words: 0.1 };
    await matches(posts, { authorId: null, custom }, [a, b, d]);
    await matches(posts, { authorId: one, custom }, []);
    const order = { by: 'updatedAt', direction: 'desc' } as const;
    assert.deepEqual(idsOf(await walk(posts, { order, limit: 1 })), [b, a, d, c]);
    await users.delete(two, 'delete', later);
    await matches(posts, { authorId: two }, []);
    await matches(posts, {}, [a, b, d]);
  });
}

/** Two posts of one author, one of another, one of nobody. */
async function postsOfTwo({ users, posts }: Store) {
  const [one = '', two = ''] = await put(users, [user(), user()]);
  const custom = { language: 'en', words: 0.1, pinned: false };
  const others = { language: 'fr', words: 0.2, pinned: true };
  const made = [
    post({ authorId: one, ...custom }),
    post({ authorId: one, ...custom }),
    post({ authorId: two, ...others }),
    post({ ...custom }),
  ] as const;
  return { one, two, made, ids: await put(posts, made) };
}

/** Holds a filter to one record, and to none where one of its members is another. */
async function allMustHold<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  whole: Filter,
  id: string,
  others: readonly Filter[],
): Promise<void> {
  await matches(lister, whole, [id]);
  for (const other of others) await matches(lister, { ...whole, ...other }, []);
}

/** Stores records by the value that each has, and looks for values: those found, and no others. */
export async function findsEach<R extends Entity, Filter extends EntityFilter, V, S extends string>(
  lister: Lister<R, Filter, S> & { create(record: R): Promise<unknown> },
  stored: readonly (readonly [V, R])[],
  sought: readonly V[],
  filter: (value: V) => Filter,
): Promise<void> {
  await put(
    lister,
    stored.map(([, record]) => record),
  );
  for (const value of new Set(sought)) {
    const found = stored.filter(([other]) => other === value);
    await matches(lister, filter(value), idsOf(found.map(([, record]) => record)));
  }
}
