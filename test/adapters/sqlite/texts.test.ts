import { renameSync } from 'node:fs';
import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { Folder } from './support/folder.ts';
import { post, user } from './support/records.ts';

const newest = { order: { by: 'createdAt', direction: 'desc' }, limit: 10, total: true } as const;

describe('odd texts and times in the sqlite store', () => {
  const folder = new Folder();

  it('half of a surrogate pair finds nothing, and not what is stored as U+FFFD', async () => {
    const store = folder.open();
    await store.users.create(user('\ufffd', { name: '\ufffd', email: '\ufffd@b' }));
    await store.posts.create(post('\ufffd', { title: '\ufffd', authorId: '\ufffd' }));
    const half = '\ud800';
    expect(await store.users.get(half)).to.equal(undefined);
    expect(await store.users.delete(half, { posts: 'delete' })).to.equal(false);
    const nothing = { items: [], total: 0 };
    expect(await store.users.list({ name: half }, newest)).to.deep.equal(nothing);
    expect(await store.users.list({ email: `${half}@b` }, newest)).to.deep.equal(nothing);
    expect(await store.posts.list({ title: half }, newest)).to.deep.equal(nothing);
    expect(await store.posts.list({ authorId: half }, newest)).to.deep.equal(nothing);
    expect(await store.posts.list({ ids: [half] }, newest)).to.deep.equal(nothing);
    const both = await store.posts.list({ ids: [half, '\ufffd', '\ufffd'] }, newest);
    expect(both.items).to.have.length(1);
    expect(both.total).to.equal(1);
  });

  it('text is compared as it is: no wildcards, numbers, quotes, and no end at NUL', async () => {
    const store = folder.open();
    const names = ['%', '_', '1', '1.0', "'; DROP TABLE users; --", 'a', 'A'];
    await Promise.all(names.map((name) => store.users.create(user(name, { name }))));
    for (const name of names) {
      const { items } = await store.users.list({ name }, newest);
      expect(items.map(({ record }) => record.id)).to.deep.equal([name]);
    }
    expect((await store.users.list({ name: 'a\0b' }, newest)).items).to.deep.equal([]);
    expect(await store.users.get('a\0')).to.equal(undefined);
  });

  it('a position may be where no record can be', async () => {
    const store = folder.open();
    await store.users.create(user('ann', { email: 'a@b' }));
    for (const by of ['createdAt', 'updatedAt', 'name', 'email'] as const) {
      const items = async (direction: 'asc' | 'desc', key: string | null) =>
        (
          await store.users.list(
            {},
            { order: { by, direction }, limit: 1, after: { key, id: 'x' } },
          )
        ).items.length;
      expect(await items('asc', null)).to.equal(1);
      expect(await items('desc', null)).to.equal(0);
    }
    const nonsense = { ...newest, after: { key: 'no time', id: 'x' } };
    expect((await store.users.list({}, nonsense)).items).to.deep.equal([]);
  });

  it('times from the year 0000 to 9999', async () => {
    const store = folder.open();
    const [first, last] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
    const old = user('old', { createdAt: first, updatedAt: last });
    await store.users.create(old);
    expect((await store.users.get('old'))?.record).to.deep.equal(old);
  });

  it('a file that was moved away makes the store unready', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.ready();
    renameSync(path, `${path}.moved`);
    const error = await store.ready().catch((reason: unknown) => reason);
    expect(isRostrumError(error, 'store-unavailable')).to.equal(true);
    renameSync(`${path}.moved`, path);
    await store.ready();
  });
});
