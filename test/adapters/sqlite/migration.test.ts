import { expect } from 'chai';
import fc from 'fast-check';
import { backupSqlite, SqliteStoreError } from '../../../src/adapters/sqlite/index.ts';
import type { Receipt } from '../../../src/domain/receipt.ts';
import type { Store } from '../../../src/ports/store.ts';
import { watched } from './support/faults.ts';
import { expectSound, Folder, look, value } from './support/folder.ts';
import { plain, user } from './support/records.ts';
import { createVersion1 } from './support/version-1.ts';
import { postBefore } from './support/version-4.ts';

const times = [
  { createdAt: '0000-01-01T00:00:00.000Z', updatedAt: '9999-12-31T23:59:59.999Z' },
  { createdAt: '1969-12-31T23:59:59.999Z', updatedAt: '2026-05-05T05:05:05.123Z' },
];
const odd = {
  nothing: null,
  numbers: [5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e21, -1e-7, 9007199254740991],
  'key "é😀\\\n': 'text "é😀\\\n\u2028\u007f',
  deep: { empty: {}, list: [[], [null, { a: null }]] },
  ['__proto__']: 1,
  own: '{}',
};
const receipt = {
  key: 'k',
  fingerprint: 'f',
  from: '2026-05-05T05:05:05.000Z',
  until: '2026-05-06T05:05:05.000Z',
};

const randomOwn = fc
  .sample(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), { numRuns: 300, seed: 1 })
  .map((own) => JSON.parse(JSON.stringify(own)));

describe('a data file of version 1', () => {
  const folder = new Folder();
  const users = [
    { record: user('ann', { ...times[0], email: 'Ann@É.example', ...odd }), version: 7 },
    { record: user('"\\', { ...times[1], name: '"; \\ \u2028😀' }), version: 1 },
    ...randomOwn.map((own, n) => ({ record: { ...own, ...user(`u${n}`) }, version: n + 1 })),
  ];
  const posts = [
    {
      record: postBefore('p', { ...times[1], authorId: 'ann', body: '"é\n'.repeat(30_000) }),
      version: 3,
    },
    { record: postBefore('q', { ...times[0], ...odd }), version: 1 },
  ];
  const receipts = [{ table: 'users', receipt, record: user('ann', { first: null }) }] as const;

  async function expectAll(store: Store) {
    for (const one of users) {
      expect(plain(await store.users.get(one.record.id))).to.deep.equal(one);
    }
    for (const { record, version } of posts) {
      const published = { ...record, publishedAt: record.createdAt };
      expect(plain(await store.posts.get(record.id))).to.deep.equal({ record: published, version });
    }
    const again = user('again');
    const { record, replayed } = await store.users.create(again, receipt satisfies Receipt);
    expect([record, replayed]).to.deep.equal([receipts[0].record, true]);
  }

  it('is migrated with every record, version and receipt, and says so', async () => {
    const path = folder.file();
    createVersion1(path, { users, posts, receipts });
    const said: string[] = [];
    const log = (_: object, message: string) => said.push(message);
    const store = folder.open(path, { logger: { info: log, warn: log, error: log } });
    await expectAll(store);
    expect(said).to.deep.equal([
      'The data file is of version 1: it is being migrated.',
      'The records are migrated; their indexes are being made.',
      'The data file is migrated.',
    ]);
    const order = { by: 'email', direction: 'desc' } as const;
    const page = { filter: { email: 'ANN@é.example' }, order, limit: 9, bytes: 999 };
    expect((await store.users.list(page)).items).to.have.length(1);
    await store.users.delete('ann', 'delete', receipt.from);
    expect(await store.posts.get('p')).to.equal(undefined);
    await store.close();
    expectSound(path);
    await folder.open(path).ready();
  });

  it('is backed up as it is, and migrated where the copy is opened', async () => {
    const [path, to] = [folder.file(), folder.file()];
    createVersion1(path, { users, posts, receipts });
    await backupSqlite({ path, to });
    await expectAll(folder.open(to));
    expect(look(path, (database) => value(database, 'PRAGMA user_version'))).to.equal(1);
  });

  it('is as it was when the migration fails, and is migrated by the next start', async () => {
    const path = folder.file();
    createVersion1(path, { users, posts, receipts });
    const failing = watched((sql) => {
      if (sql.startsWith('PRAGMA user_version =')) throw new Error('no');
    });
    expect(() => folder.open(path, {}, failing)).to.throw(SqliteStoreError);
    expect(look(path, (database) => value(database, 'PRAGMA user_version'))).to.equal(1);
    await expectAll(folder.open(path));
    expectSound(path);
  });
});
