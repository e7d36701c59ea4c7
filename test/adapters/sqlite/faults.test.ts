import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Store } from '../../../src/ports/store.ts';
import { codes, driverFault, watched } from './support/faults.ts';
import { expectSound, Folder, look } from './support/folder.ts';
import { endOf, eventsOf, idsOf, plain, post, unavailable, user } from './support/records.ts';

/** Returns false, for an error that says that nothing was changed. */
function isUnchanged(error: unknown): false {
  expect(isRostrumError(error, 'store-unavailable') && error.details.outcome).to.equal('none');
  return false;
}

describe('the SQLite store with a failing driver', () => {
  const folder = new Folder();
  let watch: Parameters<typeof watched>[0];
  let path: string;
  let store: Store;

  beforeEach(() => {
    watch = () => {};
    path = folder.file();
    store = folder.open(
      path,
      {},
      watched((sql, exec) => watch(sql, exec)),
    );
  });

  /** After each fault, the file must be intact and the store must work again. */
  afterEach(async () => {
    watch = () => {};
    await store.ready();
    await store.users.create(user('afterwards'));
    await store.close();
    expectSound(path);
  });

  function failAt(sql: string, code: number): void {
    watch = (one) => {
      if (one.startsWith(sql)) throw driverFault(code);
    };
  }

  for (const [at, code, outcome] of [
    ['BEGIN', codes.fsync, 'none'],
    ['COMMIT', codes.full, 'none'],
    ['COMMIT', codes.busy, 'none'],
    ['COMMIT', codes.fsync, 'unknown'],
  ] as const) {
    it(`fails the whole group with outcome ${outcome} if ${at} fails with code ${code}`, async () => {
      await store.users.create(user('taken'));
      failAt(at, code);
      const results = await Promise.all([
        unavailable(store.users.create(user('1'))),
        // This conflict could be with a write of the same group, which was rolled back.
        unavailable(store.users.create(user('taken'))),
        unavailable(store.users.create(user('2'))),
      ]);
      for (const { details, cause } of results) {
        expect(details.outcome).to.equal(outcome);
        expect(cause).to.have.property('errcode', code);
      }
      watch = () => {};
      expect(await store.users.get('1')).to.equal(undefined);
      expect(await store.users.get('2')).to.equal(undefined);
    });
  }

  it('fails the whole group if a statement fails', async () => {
    watch = (sql) => {
      if (sql.startsWith('INSERT INTO posts')) throw driverFault(codes.full);
    };
    for (let n = 0; n < 100; n++) {
      const written = store.users.create(user(`${n}`)).then(() => true, isUnchanged);
      const { details } = await unavailable(store.posts.create(post('p')));
      expect(details.outcome).to.equal('none');
      const isWritten = await written;
      expect((await store.users.get(`${n}`)) !== undefined).to.equal(isWritten);
      if (!isWritten) return;
    }
    throw new Error('On a busy machine two writes may be in two groups, but not each time.');
  });

  it('rejects a write and goes on if it cannot find out why SQLite found the file damaged', async () => {
    await store.users.create(user('1'));
    look(path, (database) => database.exec('PRAGMA wal_checkpoint'));
    watch = (sql) => {
      if (sql.startsWith('BEGIN')) throw driverFault(codes.corrupt);
      if (sql.includes('FROM lastCommit')) throw driverFault(codes.read);
    };
    const { cause } = await unavailable(store.users.create(user('2')));
    expect(cause).to.have.property('code', 'store-damaged');
    watch = () => {};
    // As a restored backup does.
    look(path, (database) => database.exec('CREATE TABLE other (id)'));
    await store.users.create(user('2'));
  });

  it('is ready without the probe after a write succeeds', async () => {
    failAt('COMMIT', codes.full);
    await unavailable(store.users.create(user('1')));
    watch = () => {};
    await store.users.create(user('2'));
    failAt('INSERT OR REPLACE INTO meta', codes.full);
    await store.ready();
  });

  it('stays unready if the disk only has space for part of the probe', async () => {
    watch = (sql) => {
      if (sql.startsWith('INSERT INTO posts') || sql.startsWith('DELETE')) {
        throw driverFault(codes.full);
      }
    };
    await unavailable(store.posts.create(post('p')));
    for (let n = 0; n < 3; n++) {
      const { cause } = await unavailable(store.ready());
      expect(cause).to.have.property('errcode', codes.full);
    }
  });

  it('stores every acknowledged write with its event, and none with outcome "none", at random faults', async () => {
    let seed = 42;
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const begin = await endOf(store);
    watch = (sql, exec) => {
      if (random() > (sql === 'COMMIT' ? 0.3 : 0.005)) return;
      if (sql === 'COMMIT' && random() < 0.5) exec('COMMIT');
      if (sql.startsWith('INSERT') && random() < 0.5) exec('ROLLBACK');
      throw driverFault(codes.fsync);
    };
    const ends = new Map<string, 'made' | 'none' | 'unknown'>();
    for (let round = 0; round < 60; round++) {
      const group = Array.from({ length: 20 }, (_, i) => `${round}-${i}`);
      await Promise.all(
        group.map(async (id) => {
          try {
            await store.users.create(user(id));
            ends.set(id, 'made');
          } catch (error) {
            if (!isRostrumError(error, 'store-unavailable')) throw error;
            ends.set(id, error.details.outcome);
          }
        }),
      );
    }
    watch = () => {};
    const seen = { made: 0, none: 0, unknown: 0 };
    const there: string[] = [];
    for (const [id, end] of ends) {
      const found = await store.users.get(id);
      if (found !== undefined) there.push(id);
      if (end === 'made') expect(plain(found)).to.deep.equal({ record: user(id), version: 1 });
      if (end === 'none') expect(found).to.equal(undefined);
      seen[end] += 1;
    }
    expect(Math.min(...Object.values(seen))).to.be.greaterThan(0);
    const told = idsOf(await eventsOf(store, begin));
    expect(told).to.have.members(there);
  });
});

describe('the SQLite store on a full disk', () => {
  const folder = new Folder();

  it('rejects writes that do not fit, and keeps all acknowledged ones', async () => {
    const path = folder.file();
    const database = new DatabaseSync(path);
    const store = folder.open(path, {}, () => database);
    await store.users.create(user('ann'));
    database.exec('PRAGMA max_page_count = 70');
    const body = 'x'.repeat(20_000);
    const made: string[] = [];
    let rejected = 0;
    for (let round = 0; round < 20; round++) {
      const group = Array.from({ length: 5 }, (_, i) => `${round}-${i}`);
      await Promise.all(
        group.map(async (id) => {
          const call = store.posts.create(post(id, { body, authorId: 'ann' }));
          await call.then(
            () => made.push(id),
            async () => {
              expect((await unavailable(call)).details.outcome).to.equal('none');
              rejected += 1;
            },
          );
        }),
      );
    }
    expect(made.length).to.be.greaterThan(3);
    expect(rejected).to.be.greaterThan(3);
    const found = await store.transfer.posts.scan({ limit: 1000, bytes: 2 ** 24 });
    expect(found.map(({ record }) => record.id)).to.have.members(made);

    // Freed space is used again.
    await store.posts.delete(made[0] ?? '');
    await store.posts.create(post('again', { body }));
    await store.close();
    expectSound(path);
  });

  it('logs this once and is not ready until there is space again', async () => {
    const database = new DatabaseSync(folder.file());
    const logged: string[] = [];
    const error = (_: object, message: string) => logged.push(message);
    const logger = { info() {}, warn() {}, error };
    const path = folder.file();
    const store = folder.open(path, { logger }, () => database);
    await store.ready();
    await store.users.create(user('ann'));
    const body = 'x'.repeat(20_000);
    const fill = async () => {
      for (let n = 0; ; n++) await store.posts.create(post(`${logged.length}-${n}`, { body }));
    };
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 30}`);
    await unavailable(fill());
    for (let n = 0; n < 3; n++) {
      expect((await unavailable(store.ready())).details.outcome).to.equal('none');
    }
    expect(await store.posts.get('0-0')).not.to.equal(undefined);
    expect(logged).to.deep.equal([`The disk of the data file ${path} is full: free some space.`]);
    database.exec('PRAGMA max_page_count = 100000');
    await store.ready();
    await store.posts.create(post('again', { body }));
    expect(database.prepare('SELECT count(*) AS n FROM meta').get()?.n).to.equal(0);
  });
});
