import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { Store } from '../../../src/ports/store.ts';
import { codes, driverFault, watched } from './support/faults.ts';
import { expectSound, Folder } from './support/folder.ts';
import { endOf, eventsOf, idsOf, plain, post, unavailable, user } from './support/records.ts';

describe('a failing driver under the sqlite store', () => {
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

  /** After each fault: the file is sound, and the store as good as new. */
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
    it(`at ${at} with code ${code}: all of the group fail, outcome ${outcome}`, async () => {
      await store.users.create(user('taken'));
      failAt(at, code);
      const results = await Promise.all([
        unavailable(store.users.create(user('1'))),
        // What rests on a group that was not made is not judged by it.
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

  it('a group that can be neither committed nor rolled back is never read', async () => {
    watch = (sql) => {
      if (sql === 'COMMIT' || sql === 'ROLLBACK') throw driverFault(codes.fsync);
    };
    expect((await unavailable(store.users.create(user('1')))).details.outcome).to.equal('unknown');
    await unavailable(store.users.get('1'));
    await unavailable(store.users.create(user('2')));
    await unavailable(store.ready());
    watch = () => {};
    expect(await store.users.get('1')).to.equal(undefined);
    expect(await store.users.get('2')).to.equal(undefined);
  });

  it('a statement that fails takes its group with it', async () => {
    watch = (sql) => {
      if (sql.startsWith('INSERT INTO posts')) throw driverFault(codes.full);
    };
    const writes = [store.users.create(user('1')), store.posts.create(post('p'))];
    for (const { details } of await Promise.all(writes.map(unavailable))) {
      expect(details.outcome).to.equal('none');
    }
    expect(await store.users.get('1')).to.equal(undefined);
  });

  it('a disk with space for the first half of a trial only is full', async () => {
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

  it('what is acknowledged is there with its event, and what surely was not made is not, at random', async () => {
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
