import type { PostFilter } from '../../domain/page.ts';
import type { Store } from '../store.ts';
import { post, user } from './fixtures.ts';
import { matches, put } from './matching.ts';
import type { Suite } from './suite.ts';

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
