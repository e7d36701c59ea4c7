import assert from 'node:assert/strict';
import { type EntityFilter, type PostFilter, type UserFilter, userSorts } from '../domain/list.ts';
import type { Store } from '../ports/store.ts';
import { at, later, post, times, user } from './fixtures.ts';
import { idsOf, matches, put, putEach, walk } from './lists.ts';
import type { Suite } from './suite.ts';

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
    const names = ['Ada', 'ada', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', '%', '.*', '$ne', 'Ada'];
    // As U+FFFD, half of a surrogate pair often comes out of a driver.
    const ids = await putEach(users, [...names, 'Ada\ufffd'], (name) => user({ name }));
    for (const name of ['ada', 'Ad', '%', '.*', '$ne', 'Adá', 'Ada\u0301']) {
      await matches(users, { name }, [ids[names.indexOf(name)] ?? '']);
    }
    await matches(users, { name: 'Ada' }, [ids[0] ?? '', ids[9] ?? '']);
    for (const name of ['A%', '', 'Ada\0', 'Ada\ud800']) await matches(users, { name }, []);
  });

  test('users: email: an address with the same key', async ({ users }) => {
    const emails = ['Éva@example.com', 'eva@example.com', null, 'eva@example.com\ufffd'];
    const [one = '', two = ''] = await putEach(users, emails, (email) => user({ email }));
    for (const email of ['Éva@example.com', 'éVA@EXAMPLE.com', 'E\u0301va@example.com']) {
      await matches(users, { email }, [one]);
    }
    await matches(users, { email: 'EVA@example.com' }, [two]);
    for (const email of ['eva@example', '', 'eva@example.com\0', 'eva@example.com\ud800']) {
      await matches(users, { email }, []);
    }
  });

  test('users: all that a filter says must hold', async ({ users }) => {
    const [one, two, three] = [user({ name: 'Same' }), user({ name: 'Same' }), user()];
    await put(users, [one, two, three]);
    const { name, createdAt } = one;
    const filter: UserFilter = {
      ...{ name, email: one.email ?? '' },
      ...{ ids: [one.id, three.id], createdAt: { from: createdAt } },
    };
    await matches(users, filter, [one.id]);
    await matches(users, { name }, [one.id, two.id]);
    await matches(users, { ...filter, name: three.name }, []);
    await matches(users, { ...filter, email: two.email ?? '' }, []);
    await matches(users, { ...filter, ids: [two.id] }, []);
    await matches(users, { ...filter, createdAt: { before: createdAt } }, []);
    await matches(users, { ...filter, updatedAt: { before: one.updatedAt } }, []);
  });

  test('users: lists follow a user who changes, and one who goes', async ({ users }) => {
    const [one, two] = [user({ name: 'A' }), user({ name: 'B' })];
    const moments = { createdAt: later, updatedAt: later };
    const changed = { ...one, ...moments, name: 'C', email: 'ß@example.com' };
    await put(users, [one, two]);
    await users.update(one.id, () => changed);
    await matches(users, { name: 'C' }, [one.id]);
    await matches(users, { name: 'A' }, []);
    await matches(users, { email: 'ß@example.com' }, [one.id]);
    await matches(users, { email: one.email ?? '' }, []);
    for (const by of userSorts) {
      const walked = await walk(users, { order: { by, direction: 'asc' } });
      assert.deepEqual(idsOf(walked), [two.id, one.id], `by ${by}`);
    }
    await users.delete(one.id, 'refuse', later);
    await matches(users, { name: 'C' }, []);
    await matches(users, {}, [two.id]);
  });
}

function describePostFilters({ test }: Suite): void {
  test('posts: title: the whole title, exactly', async ({ posts }) => {
    const titles = ['One', 'one', 'One ', 'One two', '%', 'One', 'One\ufffd'];
    const ids = await putEach(posts, titles, (title) => post({ title }));
    await matches(posts, { title: 'One' }, [ids[0] ?? '', ids[5] ?? '']);
    await matches(posts, { title: 'one' }, [ids[1] ?? '']);
    await matches(posts, { title: '%' }, [ids[4] ?? '']);
    for (const title of ['On', 'One\0', 'One\ud800']) await matches(posts, { title }, []);
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

  test('posts: lists follow a post that moves, and one that goes', async (store) => {
    const { posts } = store;
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    const changed = { title: 'Changed', authorId: two, createdAt: later, updatedAt: later };
    await posts.update(a, ({ record }) => ({ ...record, ...changed }));
    await posts.update(b, ({ record }) => ({ ...record, authorId: null }));
    await matches(posts, { authorId: one }, []);
    await matches(posts, { authorId: two }, [c, a]);
    await matches(posts, { authorId: null }, [b, d]);
    await matches(posts, { title: 'Changed' }, [a]);
    const walked = await walk(posts, { order: { by: 'updatedAt', direction: 'asc' } });
    assert.deepEqual(idsOf(walked), [b, c, d, a]);
    await posts.delete(a);
    await matches(posts, { title: 'Changed' }, []);
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
    const order = { by: 'updatedAt', direction: 'desc' } as const;
    assert.deepEqual(idsOf(await walk(posts, { order, limit: 1 })), [b, a, d, c]);
    await users.delete(two, 'delete', later);
    await matches(posts, { authorId: two }, []);
    await matches(posts, {}, [a, b, d]);
  });

  test('posts: all that a filter says must hold', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = ''] = ids;
    const { title, createdAt, updatedAt } = (await store.posts.get(a))?.record ?? post();
    const filter: PostFilter = {
      ...{ authorId: one, title, ids: [a, b, c] },
      updatedAt: { from: updatedAt },
    };
    await matches(store.posts, filter, [a]);
    await matches(store.posts, { ...filter, authorId: two }, []);
    await matches(store.posts, { ...filter, authorId: null }, []);
    await matches(store.posts, { ...filter, title: 'Other' }, []);
    await matches(store.posts, { ...filter, ids: [b] }, []);
    await matches(store.posts, { ...filter, updatedAt: { before: updatedAt } }, []);
    await matches(store.posts, { ...filter, createdAt: { before: createdAt } }, []);
  });
}

/** Two posts of one author, one of another, one of nobody. */
async function postsOfTwo({ users, posts }: Store) {
  const [one = '', two = ''] = await put(users, [user(), user()]);
  const authors = [one, one, two, null].map((authorId) => post({ authorId }));
  return { one, two, ids: await put(posts, authors) };
}
