import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { Folder, look, value } from './support/folder.ts';
import { post, user } from './support/records.ts';

describe('several sqlite stores on one file', () => {
  const folder = new Folder();

  it('see what each of them committed, by whatever path they came', async () => {
    const path = folder.file();
    const link = folder.file();
    symlinkSync(path, link); // It leads nowhere yet.
    const [one, other] = [folder.open(link), folder.open(path)];
    await one.users.create(user('ann'));
    expect((await other.users.get('ann'))?.version).to.equal(1);
    await other.users.update('ann', ({ record }) => ({ ...record, name: 'Other' }));
    expect((await one.users.get('ann'))?.version).to.equal(2);
    await one.close();
    await other.users.create(user('ben'));
    look(path, (database) => {
      expect(value(database, 'SELECT count(*) FROM users')).to.equal(2);
    });
  });

  it('have the filters of their own: none drops the indexes of another', async () => {
    const path = folder.file();
    const order = { by: 'createdAt', direction: 'asc' } as const;
    const page = { order, limit: 9, bytes: 999, total: true };
    const one = folder.open(path, { customFilters: { posts: { slug: 'text' } } });
    await one.posts.create(post('p', { slug: 'a', Slug: 1 }));
    const other = folder.open(path, {
      customFilters: { posts: { Slug: 'number', slug: 'number' } },
    });
    await folder.open(path, { customFilters: {} }).close();
    expect((await one.posts.list({ ...page, filter: { custom: { slug: 'a' } } })).total).to.equal(
      1,
    );
    expect((await other.posts.list({ ...page, filter: { custom: { Slug: 1 } } })).total).to.equal(
      1,
    );
    expect((await other.posts.list({ ...page, filter: { custom: { slug: 1 } } })).total).to.equal(
      0,
    );
    const names =
      "SELECT group_concat(name, ' ' ORDER BY name) FROM sqlite_schema WHERE name GLOB '*_own_*'";
    expect(look(path, (database) => value(database, names))).to.equal(
      'posts_own_number__53_lug posts_own_number_slug posts_own_text_slug',
    );
  });

  it('write nothing to a file that a later version has migrated', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.users.create(user('ann'));
    look(path, (database) => database.exec('PRAGMA user_version = 99'));
    const error = await store.users.create(user('ben')).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'store-unavailable' });
    expect(String((error as Error).cause)).to.match(/written by a newer version/);
    expect(await store.ready().catch(() => 'not ready')).to.equal('not ready');
    look(path, (database) => {
      expect(value(database, 'SELECT count(*) FROM users')).to.equal(1);
    });
  });
});
