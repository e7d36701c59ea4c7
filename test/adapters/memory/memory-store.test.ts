import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { post, user } from '../../../src/testing/fixtures.ts';
import { describeStore } from '../../../src/testing/index.ts';
import { idsOf, insert, readAll } from '../../../src/testing/lists/lists.ts';
import { errorOf } from '../../support/error-of.ts';

describeStore('the memory store', { describe, it, open: createMemoryStore });

describe('a custom field with the name of a search field, in the memory store', () => {
  it('has its own order', async () => {
    const { posts } = createMemoryStore({ declaredFields: { posts: { titleKey: 'number' } } });
    const created = [post({ title: 'a', titleKey: 2 }), post({ title: 'b', titleKey: 1 })];
    const [a = '', b = ''] = await insert(posts, created);
    const byTitle = { field: 'titleKey', direction: 'asc' } as const;
    expect(idsOf(await readAll(posts, { order: byTitle }))).to.deep.equal([a, b]);
    const byNumber = { ...byTitle, declaredType: 'number' } as const;
    expect(idsOf(await readAll(posts, { order: byNumber }))).to.deep.equal([b, a]);
  });

  it('has its own unique values', async () => {
    const emailKey = { type: 'text', unique: true } as const;
    const { users } = createMemoryStore({ declaredFields: { users: { emailKey } } });
    await insert(users, [user({ email: 'ada@example.com', emailKey: 'bob@example.com' })]);
    await insert(users, [user({ email: 'bob@example.com', emailKey: 'ada@example.com' })]);
    const again = users.create(user({ emailKey: 'bob@example.com' }));
    expect(await errorOf(again)).to.have.property('code', 'field-taken');
  });
});

describe('a declared array in the memory store', () => {
  it('matches no later record once its declaration is removed', async () => {
    const store = createMemoryStore({ declaredFields: { posts: { tags: 'text[]' } } });
    await store.undeclare('posts', 'tags');
    await insert(store.posts, [post({ tags: ['a'] })]);
    const conditions = [{ field: 'tags', declaredType: 'text[]', op: 'has', value: 'a' } as const];
    expect(idsOf(await readAll(store.posts, { conditions }))).to.deep.equal([]);
  });

  it('is not that of the caller', async () => {
    const { posts } = createMemoryStore({ declaredFields: { posts: { tags: 'text[]' } } });
    const tags = ['a'];
    const [id = ''] = await insert(posts, [post({ tags })]);
    tags[0] = 'b';
    const conditions = [{ field: 'tags', declaredType: 'text[]', op: 'has', value: 'a' } as const];
    expect(idsOf(await readAll(posts, { conditions }))).to.deep.equal([id]);
  });
});
