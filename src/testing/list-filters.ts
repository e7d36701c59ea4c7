import { emailKey, emailPrefixKey } from '../domain/email.ts';
import {
  type CustomFilter,
  type EntityFilter,
  type PostFilter,
  postSorts,
  type UserFilter,
  userSorts,
} from '../domain/list.ts';
import type { Entity } from '../domain/record.ts';
import { textKey } from '../domain/text.ts';
import type { Store } from '../ports/store.ts';
import { is } from './assertions.ts';
import { at, later, longTexts, post, swelling, times, user } from './fixtures.ts';
import { idsOf, type Lister, matches, put, putEach, walk } from './lists.ts';
import type { Suite } from './suite.ts';

/** Texts that some collation, pattern, query or driver takes for one another; one is there twice. */
export const texts = [
  ...['Ada', 'ada', 'ADA', 'Ada ', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', '%', '.*', '$ne', '😀'],
  ...['Ada', 'Ada\ufffd', ...longTexts(200), ...longTexts(200, swelling)],
];

/** Texts that no record has. */
export const unknownTexts = ['A%', 'Ada\0', 'Ada\ud800', '\0', '\ud800', 'x'.repeat(199)];

/** Texts with beginnings that some pattern, case or collation takes for one another. */
const beginnings = [
  ...['Ada', 'ADA L', 'adam', 'Ad', 'Adá', 'ADA\u0301', 'b', 'a%', 'a_', '.*', '$ne', '\ud7ff1'],
  ...[
    '\ue000',
    '\uffff',
    '𐀀',
    '😀',
    '😀 Ada',
    '\u{10ffff}',
    '\u{10ffff}\u{10ffff}',
    'ß',
    'SS',
    'İ',
    'ΝΙΚΟΣΤΡΑΤΟΣ',
    'νικος',
  ],
  ...longTexts(200, swelling),
];

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
    const [a = '', b = '', c = ''] = await put(records, [make(), make(), make()]);
    await matches(records, { ids: [c, a] }, [a, c]);
    await matches(records, { ids: [b, b, 'none', b, '', '__proto__'] }, [b]);
    await matches(records, { ids: [] }, []);
    const unknown = times(97, (n) => `none-${n}`);
    await matches(records, { ids: [...unknown, c, b, a] }, [a, b, c]);
  });

  both('name or title: the whole of it, exactly', async ({ name, records, make }) => {
    const field = name === 'users' ? 'name' : 'title';
    const named = texts.map((text) => [text, make({ [field]: text })] as const);
    await findsEach(records, named, [...texts, ...unknownTexts, ''], (text) => ({ [field]: text }));
  });

  both('what a name or title begins with, by its key', async ({ name, records, make }) => {
    const field = name === 'users' ? 'name' : 'title';
    const named = beginnings.map((text) => [text, make({ [field]: text })] as const);
    const by = name === 'users' ? 'name' : 'title';
    await beginsWithEach(records, named, (text) => ({ [`${by}StartsWith`]: text }));
  });

  for (const [field, first] of Object.entries({ createdAt: 0, updatedAt: 10 })) {
    both(`a span of ${field} has its first moment and not its last`, async ({ records, make }) => {
      const made = times(4, (n) => make({ createdAt: at(n), updatedAt: at(10 + n) }));
      const ids = await put(records, made);
      const holds = async (
        from: number | undefined,
        before: number | undefined,
        found: string[],
      ) => {
        const moment = (n?: number) => (n === undefined ? undefined : at(first + n));
        await matches(records, { [field]: { from: moment(from), before: moment(before) } }, found);
      };
      await holds(1, 3, ids.slice(1, 3));
      await holds(2, undefined, ids.slice(2));
      await holds(undefined, 2, ids.slice(0, 2));
      for (const [from, before] of [[2, 2], [3, 1], [4], [undefined, 0]]) {
        await holds(from, before, []);
      }
      // No record has such a moment: it lies just behind the one that it begins with.
      for (const strange of ['\0', '\ud800']) {
        const moment = `${at(first + 1)}${strange}`;
        await matches(records, { [field]: { from: moment } }, ids.slice(2));
        await matches(records, { [field]: { before: moment } }, ids.slice(0, 2));
      }
    });
  }
}

function describeUserFilters({ test }: Suite): void {
  test('users: email: an address with the same key', async ({ users }) => {
    const emails = ['Éva@example.com', 'eva@example.com', 'eva@bücher.de', 'eva@faß.de', null];
    emails.push('eva@example.com\ufffd');
    const ids = await putEach(users, emails, (email) => user({ email }));
    const [one = '', two = '', three = ''] = ids;
    for (const email of ['Éva@example.com', 'éVA@EXAMPLE.com', 'E\u0301va@example.com']) {
      await matches(users, { email }, [one]);
    }
    await matches(users, { email: 'EVA@example.com' }, [two]);
    for (const email of ['Eva@BÜCHER.de', 'eva@xn--bcher-kva.de']) {
      await matches(users, { email }, [three]);
    }
    await matches(users, { email: 'eva@fass.de' }, []);
    for (const email of ['eva@example', '', 'eva@example.com\0', 'eva@example.com\ud800']) {
      await matches(users, { email }, []);
    }
  });

  test('users: what an address begins with, by its key; none begins with nothing', async (store) => {
    const { users } = store;
    const emails = ['Éva@a.org', 'éva@b.org', 'eva@a.org', 'EVE@a.org', '%@a.org', '\u{10ffff}@b'];
    emails.push('eva@ä.example', 'eva@ä.org', 'ΕΥΑΣ@a.org', 'ευασ@b.org');
    emails.push(...longTexts(240).map((name) => `${name}@a.org`));
    const made = [...emails, null].map((email) => [email, user({ email })] as const);
    const keys = { keyOf: emailKey, prefixKeyOf: emailPrefixKey };
    await beginsWithEach(users, made, (emailStartsWith) => ({ emailStartsWith }), keys);
  });

  test('users: all that a filter says must hold', async ({ users }) => {
    const custom = { city: 'en', age: 5, active: false };
    const [one, two] = [user(custom), user({ city: 'fr', age: 6, active: true })];
    await put(users, [one, two, user({ ...custom, name: one.name })]);
    const { name, createdAt, updatedAt } = one;
    const whole: UserFilter = {
      ...{ nameStartsWith: name.slice(0, -1), emailStartsWith: 'USER' },
      ...{ name, email: one.email ?? '', ids: [one.id, two.id], custom },
      ...{ createdAt: { from: createdAt }, updatedAt: { before: two.updatedAt } },
    };
    await allMustHold(users, whole, one.id, [
      ...[{ name: two.name }, { email: two.email ?? '' }, { ids: [two.id] }],
      ...[{ nameStartsWith: `${name} ` }, { emailStartsWith: 'users' }],
      ...[{ createdAt: { before: createdAt } }, { updatedAt: { before: updatedAt } }],
      ...['city', 'age', 'active'].map((n) => ({ custom: { ...custom, [n]: two[n] as string } })),
    ]);
  });

  test('users: lists follow a user that changes, and one that goes', async ({ users }) => {
    const [one, two] = [user({ name: 'A', city: 'en' }), user({ name: 'B' })];
    const moments = { createdAt: later, updatedAt: later };
    const changed = { ...one, ...moments, name: 'C', email: 'ü@example.com', city: 'fr' };
    await put(users, [one, two]);
    await users.update(one.id, () => changed);
    await users.update(two.id, ({ record }) => ({ ...record, city: 'en' }));
    for (const is of [{ name: 'C' }, { email: 'ü@example.com' }, { custom: { city: 'fr' } }]) {
      await matches(users, is, [one.id]);
    }
    for (const was of [{ name: 'A' }, { email: one.email ?? '' }]) await matches(users, was, []);
    await matches(users, { custom: { city: 'en' } }, [two.id]);
    for (const by of userSorts) {
      const walked = await walk(users, { order: { by, direction: 'asc' } });
      is(`users by ${by}`, idsOf(walked), [two.id, one.id]);
    }
    await users.delete(one.id, 'refuse', later);
    for (const was of [{ name: 'C' }, { custom: { city: 'fr' } }]) await matches(users, was, []);
    await matches(users, {}, [two.id]);
  });
}

function describePostFilters({ test }: Suite): void {
  test('posts: authorId: the posts of one author, or of none', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await matches(store.posts, { authorId: one }, [a, b]);
    await matches(store.posts, { authorId: two }, [c]);
    await matches(store.posts, { authorId: null }, [d]);
    await matches(store.posts, { authorId: undefined }, ids);
  });

  test('posts: publishedAt: the drafts, or a span, which holds no draft', async ({ posts }) => {
    const moments = [null, at(1), at(2), null, at(3)];
    const ids = await putEach(posts, moments, (publishedAt) => post({ publishedAt }));
    const [a = '', b = '', c = '', d = '', e = ''] = ids;
    await matches(posts, { publishedAt: undefined }, ids);
    await matches(posts, { publishedAt: null }, [a, d]);
    await matches(posts, { publishedAt: { from: at(2) } }, [c, e]);
    await matches(posts, { publishedAt: { before: at(2) } }, [b]);
    await matches(posts, { publishedAt: { from: at(1), before: at(3) } }, [b, c]);
    await matches(posts, { publishedAt: { before: at(1) } }, []);
    for (const [filter, found] of [
      [{ publishedAt: null }, [a, d]],
      [{ publishedAt: { before: at(3) } }, [b, c]],
      [{ publishedAt: { from: at(2), before: later } }, [c, e]],
    ] as const) {
      for (const by of postSorts) {
        for (const direction of ['asc', 'desc'] as const) {
          const walked = await walk(posts, { filter, order: { by, direction }, limit: 1 });
          const expected = direction === 'asc' ? found : found.toReversed();
          is(`walk of ${JSON.stringify(filter)} by ${by}`, idsOf(walked), expected);
        }
      }
    }
    await posts.update(a, ({ record }) => ({ ...record, publishedAt: at(2) }));
    await posts.update(e, ({ record }) => ({ ...record, publishedAt: null }));
    await matches(posts, { publishedAt: null }, [d, e]);
    await matches(posts, { publishedAt: { from: at(2) } }, [a, c]);
  });

  test('posts: all that a filter says must hold', async (store) => {
    const { one, two, made } = await postsOfTwo(store);
    const [a, b, c] = made;
    const { id, title, createdAt, updatedAt, language, words, pinned } = a;
    const custom = { language, words, pinned } as CustomFilter;
    const whole: PostFilter = {
      ...{ authorId: one, title, ids: idsOf([a, b, c]), custom },
      ...{ titleStartsWith: 'TITLE', publishedAt: { before: b.createdAt } },
      ...{ createdAt: { before: b.createdAt }, updatedAt: { from: updatedAt } },
    };
    await allMustHold(store.posts, whole, id, [
      ...[{ authorId: two }, { authorId: null }, { title: b.title }, { ids: [b.id] }],
      ...[{ publishedAt: null }, { publishedAt: { from: b.createdAt } }, { titleStartsWith: 'b' }],
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
    const moments = { createdAt: later, updatedAt: later };
    const changed = { ...moments, title: 'Changed', authorId: two, words: 7 };
    await posts.update(a, ({ record }) => ({ ...record, ...changed }));
    await posts.update(b, ({ record }) => ({ ...record, authorId: null }));
    await matches(posts, { authorId: one }, []);
    await matches(posts, { authorId: two }, [c, a]);
    await matches(posts, { authorId: null }, [b, d]);
    const changes = [{ title: 'Changed' }, { custom: { words: 7 } }];
    for (const is of changes) await matches(posts, is, [a]);
    await matches(posts, { custom: { words: 0.1 } }, [b, d]);
    const walked = await walk(posts, { order: { by: 'updatedAt', direction: 'asc' } });
    is('posts by updatedAt', idsOf(walked), [b, c, d, a]);
    await posts.delete(a);
    for (const was of changes) await matches(posts, was, []);
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
    is('posts by updatedAt', idsOf(await walk(posts, { order, limit: 1 })), [b, a, d, c]);
    await users.delete(two, 'delete', later);
    await matches(posts, { authorId: two }, []);
    await matches(posts, {}, [a, b, d]);
  });
}

/** Two posts of one author, one of another, one without an author. */
async function postsOfTwo({ users, posts }: Store) {
  const [one = '', two = ''] = await put(users, [user(), user()]);
  const custom = { language: 'en', words: 0.1, pinned: false };
  const others = { language: 'fr', words: 0.2, pinned: true };
  const theirs = () => post({ authorId: one, ...custom });
  const made = [theirs(), theirs(), post({ authorId: two, ...others }), post(custom)] as const;
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

/** The keys that a prefix filter compares. */
interface Keys {
  keyOf(text: string): string;
  prefixKeyOf(prefix: string): string | undefined;
}

/** Stores records by a text that each has, and looks for beginnings of these, in every order. */
async function beginsWithEach<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort> & { create(record: R): Promise<unknown> },
  stored: readonly (readonly [string | null, R])[],
  filter: (prefix: string) => Filter,
  { keyOf, prefixKeyOf }: Keys = { keyOf: textKey, prefixKeyOf: textKey },
): Promise<void> {
  await putEach(lister, stored, ([, record]) => record);
  const all = stored.flatMap(([text]) => (text === null ? [] : [text]));
  const sought = all.flatMap((text) => {
    const parts = [firstOf(text), text.slice(0, text.lastIndexOf('.') + 1)];
    return [text, text.toLowerCase(), `${text} `, ...parts];
  });
  for (const prefix of new Set(['', 'x', '.', '\u{10fffe}', ...sought])) {
    const key = prefixKeyOf(prefix);
    const found =
      key === undefined ? [] : stored.filter(([text]) => text && keyOf(text).startsWith(key));
    await matches(lister, filter(prefix), idsOf(found.map(([, record]) => record)));
  }
}

function firstOf(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}

/** Stores records by the value that each has, and looks for values: those found, and no others. */
export async function findsEach<R extends Entity, Filter extends EntityFilter, V, S extends string>(
  lister: Lister<R, Filter, S> & { create(record: R): Promise<unknown> },
  stored: readonly (readonly [V, R])[],
  sought: readonly V[],
  filter: (value: V) => Filter,
): Promise<void> {
  await putEach(lister, stored, ([, record]) => record);
  for (const value of new Set(sought)) {
    const found = stored.filter(([other]) => other === value);
    await matches(lister, filter(value), idsOf(found.map(([, record]) => record)));
  }
}
