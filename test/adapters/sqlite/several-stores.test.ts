import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import type { Condition, DeclaredType, Store } from '../../../src/ports/index.ts';
import { Folder, look, value } from './support/folder.ts';
import { post, user } from './support/records.ts';

type Scalar = string | number | boolean;

describe('several SQLite stores on one file', () => {
  const folder = new Folder();

  it('see each other’s commits, also through a symbolic link', async () => {
    const path = folder.file();
    const link = folder.file();
    symlinkSync(path, link); // The file does not exist yet.
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

  it('declare different fields, and keep each other’s indexes', async () => {
    const path = folder.file();
    const one = folder.open(path, { declaredFields: { posts: { slug: 'text' } } });
    await one.posts.create(post('p', { slug: 'a', Slug: 1 }));
    const other = folder.open(path, { declaredFields: { posts: { Slug: 'number' } } });
    await folder.open(path, { declaredFields: {} }).close();
    const total = async (
      store: Store,
      field: string,
      declaredType: DeclaredType,
      value: Scalar,
    ) => {
      const conditions: Condition[] = [{ field, declaredType, op: 'eq', value }];
      const order = { field: 'createdAt', direction: 'asc' } as const;
      return (await store.posts.list({ conditions, order, limit: 9, bytes: 999, total: true }))
        .total;
    };
    expect(await total(one, 'slug', 'text', 'a')).to.equal(1);
    expect(await total(other, 'Slug', 'number', 1)).to.equal(1);
    const names =
      "SELECT group_concat(name, ' ' ORDER BY name) FROM sqlite_schema WHERE name LIKE '%lug'";
    expect(look(path, (database) => value(database, names))).to.equal(
      'posts_number__53_lug posts_text_slug',
    );
  });

  it('write nothing after a newer version has changed the layout', async () => {
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
