import assert from 'node:assert/strict';
import type { PostFilter } from '../domain/page.ts';
import type { Store } from '../ports/store.ts';
import { keep, later } from './authorship.ts';
import { at, post, user } from './fixtures.ts';
import { matches, put } from './matching.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

/** What only posts can be filtered by. */
export function describePostFilters({ test }: Suite): void {
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

  test('posts: filters and orders follow a post that changes, and one that goes', async (store) => {
    const [one, two] = [post({ title: 'A' }), post({ title: 'B' })];
    const changed = { ...one, title: 'C', updatedAt: at(999_999) };
    await put(store.posts, [one, two]);
    await store.posts.update(one.id, () => changed);
    await matches(store.posts, { title: 'C' }, [one.id]);
    await matches(store.posts, { title: 'A' }, []);
    for (const by of ['title', 'updatedAt'] as const) {
      const walked = await walk(store.posts, { filter: {}, order: { by, direction: 'asc' } });
      assert.deepEqual(idsOf(walked), [two.id, one.id], `by ${by}`);
    }
    await store.posts.delete(one.id);
    await matches(store.posts, { title: 'C' }, []);
    await matches(store.posts, {}, [two.id]);
  });

  test('posts: filters and orders follow posts whose author is deleted', async (store) => {
    const { one, two, ids } = await postsOfTwo(store);
    const [a = '', b = '', c = '', d = ''] = ids;
    await store.users.delete(one, keep);
    await matches(store.posts, { authorId: one }, []);
    await matches(store.posts, { authorId: null }, [a, b, d]);
    await matches(store.posts, { authorId: null, updatedAt: { from: later } }, [a, b]);
    const byChange = { by: 'updatedAt', direction: 'desc' } as const;
    const walked = await walk(store.posts, { filter: {}, order: byChange, limit: 1 });
    assert.deepEqual(idsOf(walked), [b, a, d, c]);
    await store.users.delete(two, { posts: 'delete' });
    await matches(store.posts, { authorId: two }, []);
    await matches(store.posts, {}, [a, b, d]);
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
