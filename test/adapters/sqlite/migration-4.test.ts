import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { SqliteStoreError } from '../../../src/adapters/sqlite/index.ts';
import { codes, watched } from './support/faults.ts';
import { expectSound, Folder, look, value } from './support/folder.ts';
import { plain, post, user } from './support/records.ts';
import { createVersion4, insertPost4, postBefore } from './support/version-4.ts';

const root = join(import.meta.dirname, '../../..');
const [early, late] = ['2020-01-01T00:00:00.000Z', '2026-05-06T05:05:05.000Z'];
const receipt = { key: 'k', fingerprint: 'f', from: early, until: late };
const order = { by: 'createdAt', direction: 'asc' } as const;
const page = { filter: {}, order, limit: 100, bytes: 2 ** 20 };

describe('a data file of version 4', () => {
  const folder = new Folder();
  const versionOf = (path: string) => look(path, (file) => value(file, 'PRAGMA user_version'));

  /** A file with some posts and all else that there is. */
  function made(
    posts: readonly object[] = [{}],
    receipts: Parameters<typeof createVersion4>[1]['receipts'] = [],
  ): string {
    const path = folder.file();
    createVersion4(path, {
      users: [{ record: user('ann', { name: 'Ánn', email: 'Ann@É.example' }), version: 7 }],
      posts: posts.map((fields, n) => ({
        record: postBefore(`p${n}`, { createdAt: early, authorId: 'ann', tag: 't', ...fields }),
        version: n + 2,
      })),
      receipts,
      deleted: ['gone'],
    });
    return path;
  }

  it('is migrated: posts were published when they were made, and nothing else changes', async () => {
    const meta = { publishedAt: 5, text: '"publishedAt":7' };
    const fields = [{ title: 'É' }, { title: 'e\u0301z', meta, numbers: [1e21, 5e-324, 0.1] }];
    const path = made([...fields, { title: 'éa' }]);
    const store = folder.open(path, { customFilters: { posts: { tag: 'text' } } });
    const others = { createdAt: early, authorId: 'ann', tag: 't', publishedAt: early };
    for (const [n, one] of [...fields, { title: 'éa' }].entries()) {
      const record = { ...postBefore(`p${n}`), ...others, ...one };
      expect(plain(await store.posts.get(`p${n}`))).to.deep.equal({ record, version: n + 2 });
    }
    expect((await store.users.get('ann'))?.version).to.equal(7);
    const ids = async (filter: object, by: 'title' | 'publishedAt' = 'title') => {
      const { items } = await store.posts.list({ ...page, filter, order: { ...order, by } });
      return items.map(({ record }) => record.id);
    };
    expect(await ids({ titleStartsWith: 'É' })).to.deep.equal(['p0', 'p2', 'p1']);
    expect(await ids({ custom: { tag: 't' } }, 'publishedAt')).to.deep.equal(['p0', 'p1', 'p2']);
    expect(await ids({ publishedAt: { from: early, before: late } })).to.have.length(3);
    const anns = await store.users.list({ ...page, filter: { nameStartsWith: 'á' } });
    expect(anns.items).to.have.length(1);
    expect(await store.posts.isIdTaken('gone')).to.equal(true);
    await store.posts.delete('p0');
    expect(await store.posts.isIdTaken('p0')).to.equal(true);
    await store.close();
    expectSound(path);
    await folder.open(path).ready();
  });

  it('was of version 3 when it had no ids of deleted records yet', async () => {
    const path = made();
    look(path, (file) => {
      file.exec('DROP TRIGGER users_deleted; DROP TRIGGER posts_deleted; DROP TABLE deleted');
      file.exec('PRAGMA user_version = 3');
    });
    const store = folder.open(path);
    expect((await store.posts.get('p0'))?.record.publishedAt).to.equal(early);
    await store.posts.delete('p0');
    expect(await store.posts.isIdTaken('p0')).to.equal(true);
  });

  it('has its state in a custom field publishedAt that is a date-time or null', async () => {
    const said = [null, late, '2026-05-06T07:05:05.0009+02:00', '2026-05-06t05:05:05z'];
    const path = made(said.map((publishedAt) => ({ publishedAt, n: 1e-7 })));
    const store = folder.open(path);
    const found = await store.posts.list({
      ...page,
      order: { by: 'publishedAt', direction: 'asc' },
    });
    expect(
      found.items.map(({ record }) => [record.id, record.publishedAt, record.n]),
    ).to.deep.equal([['p0', null, 1e-7], ...['p1', 'p2', 'p3'].map((id) => [id, late, 1e-7])]);
    const drafts = await store.posts.list({ ...page, filter: { publishedAt: null } });
    expect(drafts.items.map(({ record }) => record.id)).to.deep.equal(['p0']);
  });

  it('is refused and left as it is when such a field is anything else', async () => {
    const bad = ['soon', '2026-02-30T00:00:00Z', 5, { at: late }];
    const path = made([...bad, null, late].map((publishedAt) => ({ publishedAt })));
    const before = readFileSync(path);
    expect(() => folder.open(path))
      .to.throw(SqliteStoreError, '("p0", "p1", "p2", 1 more)')
      .with.property('code', 'store-not-migrated');
    expect(readFileSync(path).equals(before)).to.equal(true);
    expect(() => folder.open(made([{}, { publishedAt: '' }]))).to.throw('("p1")');
  });

  it('replays receipts with publishedAt, whatever their record had there', async () => {
    const first = [
      [undefined, early],
      [null, null],
      ['2026-05-06T05:05:05Z', late],
      ['soon', early],
    ] as const;
    const receipts = first.map(([publishedAt], n) => ({
      table: 'posts',
      receipt: { ...receipt, key: `k${n}` },
      record: postBefore(`gone${n}`, { createdAt: early, publishedAt }),
    }));
    const own = { table: 'users', receipt, record: user('ann', { publishedAt: 'soon' }) };
    const store = folder.open(made([], [own, ...receipts]));
    for (const [n, [, publishedAt]] of first.entries()) {
      const once = { ...receipt, key: `k${n}` };
      const { record, replayed } = await store.posts.create(post('new'), once);
      const expected = { ...postBefore(`gone${n}`, { createdAt: early }), publishedAt };
      expect([record, replayed]).to.deep.equal([expected, true]);
    }
    const { record } = await store.users.create(user('new'), receipt);
    expect(record).to.deep.equal(own.record);
  });

  it('shuts out the servers of version 4 that have it open', async () => {
    const path = made();
    const old = new DatabaseSync(path);
    const texts = [
      "SELECT version, record FROM posts WHERE id = 'p0'",
      "SELECT version, record FROM users WHERE id >= '' ORDER BY id LIMIT 9",
      'SELECT rowid, version, title FROM posts INDEXED BY posts_created ORDER BY created_at, id',
      'SELECT version, name FROM users WHERE rowid = 1',
    ];
    const reads = texts.map((sql) => old.prepare(sql));
    for (const read of reads) expect(read.all()).to.have.length(1);
    const insert = old.prepare(insertPost4);
    const store = folder.open(path);
    for (const read of reads) expect(() => read.all()).to.throw('no such column: version');
    expect(() => insert.run(1, '{}', early, early, null, 'T', 'old')).to.throw('no column named');
    old.close();
    expect((await store.posts.list({ ...page, total: true })).total).to.equal(1);
  });

  it('keeps the writes of others waiting while it is migrated, and is migrated once', async () => {
    const path = made();
    let refusal: unknown;
    const store = folder.open(
      path,
      {},
      watched((sql) => {
        if (!sql.startsWith('PRAGMA user_version =')) return;
        const old = new DatabaseSync(path);
        try {
          old.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
        } catch (error) {
          refusal = error;
        }
        old.close();
      }),
    );
    expect(refusal).to.have.property('errcode', codes.busy);
    await store.ready();
    const first = made();
    let isFirst = true;
    const late = watched((sql) => {
      if (sql !== 'BEGIN IMMEDIATE' || !isFirst) return;
      isFirst = false;
      folder.open(first);
    });
    await folder.open(first, {}, late).ready();
    const raced = made();
    const ends = [opening(raced), opening(raced)].map((one) => once(one, 'exit'));
    expect(await Promise.all(ends)).to.deep.equal([
      [0, null],
      [0, null],
    ]);
    expectSound(raced);
  });

  for (const [at, sql] of Object.entries({
    'the first record': 'INSERT INTO posts',
    'the end of the records': 'DROP TABLE',
    'the end of the indexes': 'PRAGMA user_version =',
    'the commit': 'COMMIT',
  })) {
    it(`is as it was when the migration is killed at ${at}, and is migrated then`, async () => {
      const path = made(Array.from({ length: 100 }, () => ({ body: 'x'.repeat(10_000) })));
      // As of a large file, most of it is in the log before the commit.
      const kill = `(sql, exec) => {
        if (sql.startsWith('BEGIN')) exec('PRAGMA cache_size = 10');
        if (sql.startsWith('${sql}')) process.kill(process.pid, 'SIGKILL');
      }`;
      expect(await once(opening(path, kill), 'exit')).to.deep.equal([null, 'SIGKILL']);
      expect(versionOf(path)).to.equal(4);
      expectSound(path);
      const store = folder.open(path);
      const { items, total } = await store.posts.list({ ...page, limit: 9, total: true });
      expect([items[0]?.record.publishedAt, total]).to.deep.equal([early, 100]);
    });
  }

  /** Another process that opens a store, and looks at its SQL. */
  function opening(path: string, watch = '() => {}'): ChildProcess {
    const program = `
      import { openStore } from ${JSON.stringify(join(root, 'src/adapters/sqlite/store.ts'))};
      import { watched } from ${JSON.stringify(join(import.meta.dirname, 'support/faults.ts'))};
      const store = openStore({ path: process.argv[1] }, watched(${watch}));
      await store.ready();
      await store.close();
    `;
    const args = ['--input-type=module', '-e', program, path];
    return spawn(process.execPath, args, { stdio: 'inherit' });
  }
});
