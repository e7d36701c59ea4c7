import { symlinkSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { checkWalBelongs } from '../../../src/adapters/sqlite/connection/last-commit.ts';
import type { Condition, DeclaredType, Store } from '../../../src/ports/index.ts';
import { Folder, look, value } from './support/folder.ts';
import { post, user } from './support/records.ts';

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

  it('declare different fields, and keep each other’s indexes and elements up to date', async () => {
    const path = folder.file();
    const one = folder.open(path, { declaredFields: { posts: { slug: 'text', tags: 'text[]' } } });
    await one.posts.create(post('p', { slug: 'a', Slug: 1, tags: ['x', 'y'] }));
    const other = folder.open(path, { declaredFields: { posts: { Slug: 'number' } } });
    const none = folder.open(path);
    await none.posts.update('p', ({ record }) => ({ ...record, tags: ['y', 'z'] }));
    const total = async (store: Store, condition: Condition) => {
      const order = { field: 'createdAt', direction: 'asc' } as const;
      const query = { conditions: [condition], order, limit: 9, bytes: 999, total: true };
      return (await store.posts.list(query)).total;
    };
    const equal = (field: string, declaredType: DeclaredType, value: string | number) =>
      ({ field, declaredType, op: 'eq', value }) as const;
    const has = (value: string) =>
      ({ field: 'tags', declaredType: 'text[]', op: 'has', value }) as const;
    expect(await total(one, equal('slug', 'text', 'a'))).to.equal(1);
    expect(await total(other, equal('Slug', 'number', 1))).to.equal(1);
    expect(await total(one, has('x'))).to.equal(0);
    expect(await total(one, has('z'))).to.equal(1);
    await none.posts.delete('p');
    look(path, (database) => {
      const names =
        "SELECT group_concat(name, ' ' ORDER BY name) FROM sqlite_schema WHERE name LIKE '%lug'";
      expect(value(database, names)).to.equal('posts_declared__53_lug posts_declared_slug');
      expect(value(database, 'SELECT count(*) FROM elements')).to.equal(0);
    });
  });

  it('open a file that declares a field named almost like a known one', async () => {
    const path = folder.file();
    const declaredFields = { posts: { createdat: 'text', titlekey: 'text' } } as const;
    await folder.open(path, { declaredFields }).close();
    const store = folder.open(path);
    expect(store.declaredFields?.posts).to.deep.equal(declaredFields.posts);
    await store.undeclare('posts', 'createdat');
    await store.close();
  });

  it('know a file into which another process is copying its log', async function () {
    this.retries(5); // A busy machine can leave the page half written for longer than the store looks.
    const path = folder.file();
    const first = folder.open(path);
    await first.users.create(user('ann'));
    await first.close(); // The file itself has this commit now.
    const store = folder.open(path);
    await store.users.create(user('ben'));
    const page = look(path, (database) =>
      value(database, `SELECT rootpage FROM sqlite_schema WHERE name = 'lastCommit'`),
    );
    const size = look(path, (database) => value(database, 'PRAGMA page_size'));
    // A page that is half written for some milliseconds.
    const options = { eval: true, workerData: { path, page, size }, trackUnmanagedFds: false };
    const worker = new Worker(halfWritten, options);
    await new Promise((written) => worker.once('message', written));
    checkWalBelongs(path);
    await worker.terminate();
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

const halfWritten = `
  const { openSync, readSync, writeSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { path, page, size } = workerData;
  const file = openSync(path, 'r+');
  const bytes = Buffer.alloc(size);
  readSync(file, bytes, 0, size, (page - 1) * size);
  writeSync(file, Buffer.alloc(size), 0, size, (page - 1) * size);
  parentPort.postMessage('written');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  writeSync(file, bytes, 0, size, (page - 1) * size);
  setTimeout(() => {}, 60_000);
`;
