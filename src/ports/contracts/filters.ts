import assert from 'node:assert/strict';
import type { EntityFilter, PostFilter, UserFilter } from '../../domain/page.ts';
import type { Entity } from '../../domain/record.ts';
import type { Store } from '../store.ts';
import { at, post, times, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import type { Suite } from './suite.ts';
import { idsOf, type Lister, walk } from './walk.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

/** Each filter, and filters together. */
export function describeFilters(suite: Suite): void {
  suite.group('filters', () => {
    filtersOf(users, suite);
    filtersOf(posts, suite);
    userFilters(suite);
    postFilters(suite);
  });
}

function filtersOf<R extends Entity>({ name, of, make }: Kind<R>, { test }: Suite): void {
  test(`${name}: a filter that says nothing matches all`, async (store) => {
    const ids = await put(of(store), [make(), make()]);
    const silent: EntityFilter = { ids: undefined, createdAt: {}, updatedAt: undefined };
    for (const filter of [{}, silent, { createdAt: { from: undefined, before: undefined } }]) {
      await matches(of(store), filter, ids);
    }
  });

  test(`${name}: ids: any of these; unknown and repeated ones change nothing`, async (store) => {
    const [a = '', b = '', c = ''] = await put(of(store), [make(), make(), make()]);
    await matches(of(store), { ids: [c, a] }, [a, c]);
    await matches(of(store), { ids: [b, b, 'none', b, '', '\0', '__proto__'] }, [b]);
    await matches(of(store), { ids: ['none'] }, []);
    const hundred = times(97, (n) => `none-${n}`);
    await matches(of(store), { ids: [...hundred, c, b, a] }, [a, b, c]);
  });

  test(`${name}: an empty list of ids matches nothing`, async (store) => {
    await put(of(store), [make()]);
    await matches(of(store), { ids: [] }, []);
  });

  for (const field of ['createdAt', 'updatedAt'] as const) {
    test(`${name}: a span of ${field} has its first moment and not its last`, async (store) => {
      const moments = [at(0), at(1), at(2), at(3)];
      const records = moments.map((moment, n) => make({ createdAt: at(n), [field]: moment }));
      const [a = '', b = '', c = '', d = ''] = await put(of(store), records);
      const span = (from?: number, before?: number): EntityFilter => ({
        [field]: {
          from: from === undefined ? undefined : at(from),
          before: before === undefined ? undefined : at(before),
        },
      });
      await matches(of(store), span(1, 3), [b, c]);
      await matches(of(store), span(2), [c, d]);
      await matches(of(store), span(undefined, 2), [a, b]);
      await matches(of(store), span(2, 2), []);
      await matches(of(store), span(3, 1), []);
      await matches(of(store), span(4), []);
      await matches(of(store), span(undefined, 0), []);
    });
  }

  test(`${name}: createdAt and updatedAt are two fields`, async (store) => {
    const made = make({ createdAt: at(0), updatedAt: at(9) });
    await put(of(store), [made]);
    await matches(of(store), { createdAt: { before: at(1) }, updatedAt: { from: at(9) } }, [
      made.id,
    ]);
    await matches(of(store), { updatedAt: { before: at(9) } }, []);
    await matches(of(store), { createdAt: { from: at(1) } }, []);
  });
}

function userFilters({ test }: Suite): void {
  test('users: name: the whole name, exactly', async (store) => {
    const names = ['Ada', 'ada', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', '%', '.*', '$ne', 'Ada'];
    const ids = await put(
      store.users,
      names.map((name) => user({ name })),
    );
    for (const name of ['ada', 'Ad', '%', '.*', '$ne', 'Adá', 'Ada\u0301']) {
      await matches(store.users, { name }, [ids[names.indexOf(name)] ?? '']);
    }
    await matches(store.users, { name: 'Ada' }, [ids[0] ?? '', ids[9] ?? '']);
    await matches(store.users, { name: 'A%' }, []);
    await matches(store.users, { name: '' }, []);
  });

  test('users: email: an address with the same key', async (store) => {
    const emails = ['Éva@example.com', 'eva@example.com', null];
    const [one = '', two = ''] = await put(
      store.users,
      emails.map((email) => user({ email })),
    );
    for (const email of ['Éva@example.com', 'éVA@EXAMPLE.com', 'E\u0301va@example.com']) {
      await matches(store.users, { email }, [one]);
    }
    await matches(store.users, { email: 'EVA@example.com' }, [two]);
    await matches(store.users, { email: 'eva@example' }, []);
    await matches(store.users, { email: '' }, []);
  });

  test('users: all that a filter says must hold', async (store) => {
    const [one, two, three] = [user({ name: 'Same' }), user({ name: 'Same' }), user()];
    await put(store.users, [one, two, three]);
    const { name, createdAt } = one;
    const email = one.email ?? '';
    const filter: UserFilter = {
      name,
      email,
      ids: [one.id, three.id],
      createdAt: { from: createdAt },
    };
    await matches(store.users, filter, [one.id]);
    await matches(store.users, { name }, [one.id, two.id]);
    await matches(store.users, { ...filter, name: three.name }, []);
    await matches(store.users, { ...filter, email: two.email ?? '' }, []);
    await matches(store.users, { ...filter, ids: [two.id] }, []);
    await matches(store.users, { ...filter, createdAt: { before: createdAt } }, []);
    await matches(store.users, { ...filter, updatedAt: { before: one.updatedAt } }, []);
  });
}

function postFilters({ test }: Suite): void {
  test('posts: title: the whole title, exactly', async (store) => {
    const titles = ['One', 'one', 'One ', 'One two', '%', 'One'];
    const ids = await put(
      store.posts,
      titles.map((title) => post({ title })),
    );
    await matches(store.posts, { title: 'One' }, [ids[0] ?? '', ids[5] ?? '']);
    await matches(store.posts, { title: 'one' }, [ids[1] ?? '']);
    await matches(store.posts, { title: '%' }, [ids[4] ?? '']);
    await matches(store.posts, { title: 'On' }, []);
  });

  test('posts: authorId: the posts of one author, or of nobody', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await matches(store.posts, { authorId: one }, [a, b]);
    await matches(store.posts, { authorId: two }, [c]);
    await matches(store.posts, { authorId: null }, [d]);
    await matches(store.posts, { authorId: undefined }, ids);
    for (const authorId of ['nobody', '', '\0', 'null']) {
      await matches(store.posts, { authorId }, []);
    }
  });

  test('posts: the filter by author follows a post that moves', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await store.posts.update(a, ({ record }) => ({ ...record, authorId: two }));
    await store.posts.update(b, ({ record }) => ({ ...record, authorId: null }));
    await matches(store.posts, { authorId: one }, []);
    await matches(store.posts, { authorId: two }, [a, c]);
    await matches(store.posts, { authorId: null }, [b, d]);
  });

  test('posts: all that a filter says must hold', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = ''] = ids;
    const first = (await store.posts.get(a))?.record ?? post();
    const { title, updatedAt } = first;
    const filter: PostFilter = {
      authorId: one,
      title,
      ids: [a, b, c],
      updatedAt: { from: updatedAt },
    };
    await matches(store.posts, filter, [a]);
    await matches(store.posts, { ...filter, authorId: two }, []);
    await matches(store.posts, { ...filter, authorId: null }, []);
    await matches(store.posts, { ...filter, title: 'Other' }, []);
    await matches(store.posts, { ...filter, ids: [b] }, []);
    await matches(store.posts, { ...filter, updatedAt: { before: updatedAt } }, []);
    await matches(store.posts, { ...filter, createdAt: { before: first.createdAt } }, []);
  });
}

/** Two posts of one author, one of another, one of nobody. */
async function postsOfTwo({ users, posts }: Store) {
  const [one, two] = await put(users, [user(), user()]);
  const authors = [one, one, two, null].map((authorId) => post({ authorId: authorId ?? null }));
  return { one: one ?? '', two: two ?? '', ids: await put(posts, authors) };
}

/** Stores records whose createdAt grows, and tells their ids. */
async function put<R extends Entity>(
  repository: { create(record: R): Promise<unknown> },
  records: readonly R[],
): Promise<string[]> {
  await Promise.all(records.map((record) => repository.create(record)));
  return idsOf(records);
}

/** Holds the list, its total and its pages to the ids that a filter has to match. */
async function matches<R extends Entity, Filter>(
  lister: Lister<R, Filter, typeof order>,
  filter: Filter,
  ids: readonly string[],
): Promise<void> {
  const told = JSON.stringify(filter);
  const page = await lister.list(filter, { order, limit: 100, total: true });
  assert.deepEqual(idsOf(page.items.map(({ record }) => record)), ids, `list of ${told}`);
  assert.equal(page.total, ids.length, `total of ${told}`);
  assert.deepEqual(idsOf(await walk(lister, { filter, order, limit: 1 })), ids, `walk of ${told}`);
}
