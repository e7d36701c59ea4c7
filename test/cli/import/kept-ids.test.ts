import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { later } from '../../../src/testing/fixtures.ts';
import { post, user } from '../transfer/records.ts';
import { Imports } from './imports.ts';

describe('rostrum import --keep-ids', () => {
  const imports = new Imports();

  it('keeps ids and times', async () => {
    const times = { createdAt: '2020-01-01T02:00:00+01:00', updatedAt: '2021-01-01T00:00:00Z' };
    const given = {
      users: [
        { id: 7, name: 'A', ...times },
        { name: 'B', createdAt: times.createdAt },
      ],
      posts: [{ id: 'p', title: 'P', authorId: 7, updatedAt: times.updatedAt }],
    };
    await imports.run(given, { keepIds: true });
    const [created, updated] = ['2020-01-01T01:00:00.000Z', '2021-01-01T00:00:00.000Z'];
    const { users, posts } = await imports.held();
    const other = users.find(({ name }) => name === 'B');
    expect(other).to.include({ createdAt: created, updatedAt: created });
    expect(users.find(({ id }) => id === '7')).to.include({
      createdAt: created,
      updatedAt: updated,
    });
    expect(posts).to.deep.equal([
      {
        ...{ id: 'p', title: 'P', body: '', authorId: '7' },
        ...{ createdAt: updated, updatedAt: updated, publishedAt: updated },
      },
    ]);
  });

  it('reads kept times in the formats of databases and mail, and ignores empty ones', async () => {
    const csv =
      'id,name,Created At,updated_at\n' +
      'a,A,"Fri, 30 Mar 2012 11:18:03 +0000",2013-04-09 18:20:39Z\nb,B,1175714200,\\N\nc,C,,NULL\n';
    await imports.run(csv, { file: 'a.csv', as: 'users', keepIds: true });
    const [a, b, c] = (await imports.held()).users;
    const created = '2012-03-30T11:18:03.000Z';
    expect(a).to.include({ createdAt: created, updatedAt: '2013-04-09T18:20:39.000Z' });
    expect(b?.updatedAt).to.equal(b?.createdAt).and.to.equal('2007-04-04T19:16:40.000Z');
    expect(c?.createdAt).to.satisfy((time: string) => time > '2026');
  });

  it('skips and counts records that were deleted from the store', async () => {
    const posts = [
      { id: 'p', title: 'P', authorId: 'u' },
      { id: 'q', title: 'Q' },
    ];
    const users = [{ id: 'u', name: 'U' }];
    await imports.run({ users, posts: posts.slice(0, 1) }, { keepIds: true });
    await imports.store.users.delete('u', 'delete', later);
    const again = await imports.run({ users, posts }, { keepIds: true });
    expect(again).to.deep.include({ deleted: 2, rejected: 0, good: { users: 0, posts: 1 } });
    expect(imports.rejected).to.deep.equal([]);
    expect((await imports.held()).posts.map(({ id }) => id)).to.deep.equal(['q']);
    const late = { posts: [{ id: 'r', title: 'R', authorId: 'u' }] };
    expect(await imports.run(late, { keepIds: true })).to.deep.include({ rejected: 1 });
    expect(imports.rejected).to.deep.equal(['posts[0] /authorId unknown']);
  });

  it('with --restore-deleted, adds deleted records again at the version after their last one', async () => {
    const given = {
      users: [{ id: 'u', name: 'U' }],
      posts: [
        { id: 'p', title: 'P', authorId: 'u' },
        { id: 'q', title: 'Q' },
      ],
    };
    await imports.run(given, { keepIds: true });
    const before = await imports.held();
    await imports.store.users.delete('u', 'delete', later);
    const last = (await imports.store.users.lastVersion('u')) ?? 0;
    const restoring = { keepIds: true, restoreDeleted: true };
    const again = await imports.run(given, restoring);
    expect(again).to.deep.include({ deleted: 0, there: 1, good: { users: 1, posts: 1 } });
    expect((await imports.held()).posts.map(({ authorId }) => authorId)).to.deep.equal(['u', null]);
    expect((await imports.store.users.get('u'))?.version).to.equal(last + 1);
    expect(await imports.run(given, restoring)).to.deep.include({ there: 3, rejected: 0 });
    const ids = ({ users, posts }: typeof before) => [...users, ...posts].map(({ id }) => id);
    expect(ids(await imports.held())).to.deep.equal(ids(before));
  });

  it('rejects a record whose id is taken while the others are being added', async () => {
    const posts = [
      { id: 'p', title: 'P' },
      { id: 'q', title: 'Q' },
    ];
    const progress = (part: string) => {
      if (part === 'checked') void imports.store.posts.create(post(1, { id: 'q' }));
    };
    const result = await imports.run({ posts }, { keepIds: true, progress });
    expect(result).to.deep.include({ rejected: 1, good: { users: 0, posts: 2 } });
    expect([imports.rejected, imports.added.posts]).to.deep.equal([['posts[1] /id taken'], 1]);
  });

  it('rejects a record whose unique custom field is taken', async () => {
    imports.store = createMemoryStore({
      declaredFields: { posts: { slug: { type: 'text', unique: true } } },
    });
    const posts = ['a', 'b', 'a'].map((slug) => ({ title: 'P', slug }));
    const result = await imports.run({ posts }, {});
    expect(result).to.deep.include({ rejected: 1 });
    expect([imports.rejected, imports.added.posts]).to.deep.equal([['posts[2] /slug taken'], 2]);
  });

  it('uses the author in the store if the user with that id is rejected', async () => {
    const users = [
      { id: 1, name: 'A', email: 'a@b.c' },
      { id: 2, name: '' },
      { id: 3, name: 'C', email: 'A@b.c' },
    ];
    await imports.run({ users: users.slice(0, 1) }, { keepIds: true });
    const posts = users.map(({ id }) => ({ title: `P${id}`, authorId: id }));
    await imports.run({ users, posts }, { keepIds: true, skipInvalid: true });
    expect(imports.rejected).to.deep.equal([
      ...['users[1] /name too-short', 'users[2] /email taken'],
      ...['posts[1] /authorId unknown', 'posts[2] /authorId unknown'],
    ]);
    expect((await imports.held()).posts.map(({ authorId }) => authorId)).to.deep.equal(['1']);
  });

  it('skips records that an earlier import added, and rejects changed ones', async () => {
    const times = { createdAt: '2020-01-01T00:00:00Z', updatedAt: '2021-01-01T00:00:00Z' };
    const given = {
      users: [
        { id: 1, name: 'A', email: 'a@b.c', ...times },
        { id: 2, name: 'B', tags: [{ b: 1, a: 2 }] },
      ],
      posts: [
        { id: 1, title: 'P', authorId: 1 },
        { id: 2, title: 'Q', authorId: 2 },
      ],
    };
    const part = { users: given.users, posts: given.posts.slice(0, 1) };
    expect(await imports.run(part, { keepIds: true })).to.include({ there: 0 });
    expect(await imports.run(given, { keepIds: true })).to.include({ there: 3, rejected: 0 });
    expect([imports.rejected, imports.added]).to.deep.equal([[], { users: 2, posts: 2 }]);
    const before = await imports.held();
    expect(await imports.run(given, { keepIds: true })).to.include({ there: 4, rejected: 0 });
    expect(await imports.held()).to.deep.equal(before);

    await imports.store.users.update('2', ({ record }) => ({ ...record, name: 'C' }));
    await imports.store.posts.update('1', ({ record }) => ({ ...record, authorId: '2' }));
    const later = { ...times, updatedAt: '2022-01-01T00:00:00Z' };
    const [first, ...rest] = given.users;
    const changed = { users: [{ ...first, ...later }, ...rest, rest[0]], posts: given.posts };
    expect(await imports.run(changed, { keepIds: true })).to.include({ records: 5, rejected: 4 });
    expect(imports.rejected).to.deep.equal([
      ...['users[0] /id taken', 'users[1] /id taken'],
      ...['users[2] /id taken', 'posts[0] /id taken'],
    ]);
  });

  it('accepts authors that are in the store already', async () => {
    const { record } = await imports.store.users.create(user(1));
    const given = { users: [{ id: 1, name: 'A' }], posts: [{ title: 'P', authorId: record.id }] };
    await imports.run(given);
    expect((await imports.held()).posts[0]?.authorId).to.equal(record.id);
  });

  it('rejects invalid ids and times', async () => {
    await imports.store.users.create(user(1));
    const [name, title] = ['A', 'P'];
    const given = {
      users: [
        { name, id: user(1).id },
        { name, id: '' },
        { name, id: '..' },
        { name, id: 'me' },
        { name, id: [] },
        { name, id: 'x'.repeat(256) },
        { name, id: 1e300 },
        { name, createdAt: 'yesterday' },
      ],
      posts: [
        { title, id: 1 },
        { title, id: '1' },
      ],
    };
    await imports.run(given, { keepIds: true });
    expect(imports.rejected).to.deep.equal([
      'users[0] /id taken',
      'users[1] /id invalid',
      'users[2] /id invalid',
      'users[3] /id invalid',
      'users[4] /id invalid',
      'users[5] /id invalid',
      'users[6] /id invalid',
      'users[7] /createdAt invalid',
      'posts[1] /id taken',
    ]);
    expect(imports.messages[3]).to.match(/^An id must be .* not "\.", "\.\." or "me"\.$/);
    expect(imports.messages[7]).to.match(/^"yesterday" is not a time like /);
  });
});
