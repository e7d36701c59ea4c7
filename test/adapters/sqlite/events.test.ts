import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { backupSqlite, restoreSqlite } from '../../../src/adapters/sqlite/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import type { EventPosition, Store } from '../../../src/ports/index.ts';
import { errorOf } from '../../support/error-of.ts';
import { codes, driverFault, watched } from './support/faults.ts';
import { expectSound, Folder, look, value } from './support/folder.ts';
import { endOf, eventsOf, idsOf, post, unavailable, user } from './support/records.ts';

const at = '2026-06-06T06:06:06.000Z';

describe('the event log of the SQLite store', () => {
  const folder = new Folder();

  it('accepts positions from before a restored backup, and expires later ones', async () => {
    const [path, copy] = [folder.file(), folder.file()];
    const server = folder.open(path);
    const begin = await endOf(server);
    await server.users.create(user('ann'));
    const kept = await endOf(server);
    await backupSqlite({ path, to: copy });
    const lost: EventPosition[] = [];
    for (const id of ['ben', 'cid']) {
      await server.users.create(user(id));
      lost.push(await endOf(server));
    }
    await restoreSqlite({ path, from: copy });
    const restored = server;
    for (const id of ['dan', 'eve']) await restored.users.create(user(id));
    for (const after of lost) expect(await codeOf(restored, after)).to.equal('events-expired');
    expect(idsOf(await eventsOf(restored, begin))).to.deep.equal(['ann', 'dan', 'eve']);
    expect(idsOf(await eventsOf(restored, kept))).to.deep.equal(['dan', 'eve']);
  });

  it('shows an event to other stores only after its change was committed', async () => {
    const path = folder.file();
    const others = folder.open(path);
    const begin = await endOf(others);
    let seen: Promise<unknown>[] = [];
    const store = folder.open(
      path,
      {},
      watched((sql) => {
        if (sql === 'COMMIT') seen.push(eventsOf(others, begin));
      }),
    );
    seen = [];
    await Promise.all([store.users.create(user('ann')), store.posts.create(post('p'))]);
    expect(await seen[0], 'before the commit').to.deep.equal([]);
    expect(await eventsOf(others, begin)).to.deep.equal([
      { type: 'created', collection: 'users', id: 'ann', version: 1 },
      { type: 'created', collection: 'posts', id: 'p', version: 1 },
    ]);
  });

  it('rolls a change back if its event does not fit on the disk', async () => {
    let isFull = false;
    const path = folder.file();
    const store = folder.open(
      path,
      {},
      watched((sql) => {
        if (isFull && sql.startsWith('INSERT INTO events')) throw driverFault(codes.full);
      }),
    );
    await store.users.create(user('ann'));
    await store.posts.create(post('p', { authorId: 'ann' }));
    const begin = await endOf(store);
    isFull = true;
    for (const change of [
      () => store.users.create(user('ben')),
      () => store.users.update('ann', ({ record }) => ({ ...record, name: 'B' })),
      () => store.users.delete('ann', 'keep', at),
      () => store.users.delete('ann', 'delete', at),
      () => store.posts.delete('p'),
    ]) {
      expect((await unavailable(change())).details.outcome).to.equal('none');
    }
    isFull = false;
    expect(await store.users.get('ben')).to.equal(undefined);
    expect((await store.users.get('ann'))?.version).to.equal(1);
    expect((await store.posts.get('p'))?.version).to.equal(1);
    expect(await eventsOf(store, begin)).to.deep.equal([]);
  });

  it('matches the records, wherever in a group the disk becomes full', async () => {
    const path = folder.file();
    const database = new DatabaseSync(path);
    const store = folder.open(path, {}, () => database);
    const begin = await endOf(store);
    const pages = Number(value(database, 'PRAGMA page_count'));
    let [made, refused] = [0, 0];
    for (let more = 1; more <= 60; more++) {
      database.exec(`PRAGMA max_page_count = ${pages + more}`);
      const group = Array.from({ length: 7 }, (_, n) => `${more}-${n}-${'x'.repeat(more * 7)}`);
      const writes = await Promise.allSettled(group.map((id) => store.users.create(user(id))));
      for (const { status } of writes) status === 'fulfilled' ? made++ : refused++;
    }
    expect(Math.min(made, refused)).to.be.greaterThan(20);
    const told = idsOf(await eventsOf(store, begin));
    const found = await store.transfer.users.scan({ limit: 1000, bytes: 2 ** 24 });
    expect(told).to.have.members(found.map(({ record }) => record.id));
    expect(told).to.have.lengthOf(made);
    await store.close();
    expectSound(path);
  });

  it('keeps the event of the last checkpoint while a reader delays the next one', async () => {
    const path = folder.file();
    const store = folder.open(path);
    const reader = new DatabaseSync(path);
    try {
      reader.exec('BEGIN; SELECT * FROM users');
      look(path, (file) =>
        file.exec("INSERT INTO events VALUES (1000200, random(), 'created', 'posts', 'x', 1)"),
      );
      const ids = Array.from({ length: 65 }, (_, n) => `${n}`);
      await Promise.all(ids.map((id) => store.users.create(user(id))));
      await folder.open(path).ready();
    } finally {
      reader.close();
    }
  });

  it('keeps the newest 1,000,000 events, and removes older ones gradually after a large deletion', async () => {
    const path = folder.file();
    let store = folder.open(path);
    const begin = await endOf(store);
    await store.users.create(user('ann'));
    // As many events as are kept, of which those in the middle are missing.
    const [kept, old, posts] = [1_000_000, 20_000, 10_000];
    look(path, (file) => {
      file.exec(`
        WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${posts})
        INSERT INTO posts (id, version, createdAt, updatedAt, publishedAt, authorId, title, titleKey, json)
        SELECT 'p' || n, 3, '${at}', '${at}', '${at}', 'ann', 'T', 't', '{"authorId":"ann"}'
        FROM numbers;
        WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${old})
        INSERT INTO events (mark, type, collection, version, id) SELECT random(), 'created', 'posts', 1, 'x' FROM numbers;
        INSERT INTO events VALUES (${kept - 1}, random(), 'created', 'posts', 'x', 1);
        UPDATE lastCommit SET (sequence, mark) = (SELECT sequence, mark FROM events ORDER BY sequence DESC LIMIT 1);
        PRAGMA wal_checkpoint`);
    });
    await store.close();
    store = folder.open(path); // It reads how far the file itself is.
    const count = () => look(path, (file) => value(file, 'SELECT count(*) FROM events'));
    // The table's initial row, the event of Ann, and the inserted ones.
    const first = 2 + old + 1;
    expect(count()).to.equal(first);
    const before = await endOf(store);
    await store.users.delete('ann', 'keep', at);
    expect(count()).to.equal(first + posts + 1);
    const cascade = await eventsOf(store, before);
    expect(new Set(idsOf(cascade)).size).to.equal(posts + 1);
    expect(cascade.pop()).to.deep.equal({
      type: 'deleted',
      collection: 'users',
      id: 'ann',
      version: 1,
    });
    expect(cascade.every(({ version }) => version === 4)).to.equal(true);
    for (let group = 0; group < 10; group++) {
      const ids = Array.from({ length: 640 }, (_, n) => `${group}-${n}`);
      await Promise.all(ids.map((id) => store.users.create(user(id))));
    }
    // For each 64 changes, 128 rows were removed.
    expect(count()).to.equal(first + posts + 1 - 6400);
    expect(await codeOf(store, begin)).to.equal('events-expired');
    expect(await eventsOf(store, before)).to.have.lengthOf(posts + 1 + 6400);
  });
});

async function codeOf({ events }: Store, after: EventPosition) {
  const error = await errorOf(events?.read(1, after) ?? Promise.resolve());
  return isRostrumError(error) ? error.code : error;
}
