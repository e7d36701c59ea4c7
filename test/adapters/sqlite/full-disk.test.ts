import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { expectSound, Folder } from './support/folder.ts';
import { post, unavailable, user } from './support/records.ts';

describe('a sqlite store that runs out of disk', () => {
  const folder = new Folder();

  it('refuses what does not fit, keeps what it acknowledged, and goes on', async () => {
    const path = folder.file();
    const database = new DatabaseSync(path);
    const store = folder.open(path, {}, () => database);
    await store.users.create(user('ann'));
    database.exec('PRAGMA max_page_count = 70');
    const body = 'x'.repeat(20_000);
    const made: string[] = [];
    let refused = 0;
    for (let round = 0; round < 20; round++) {
      const group = Array.from({ length: 5 }, (_, i) => `${round}-${i}`);
      await Promise.all(
        group.map(async (id) => {
          const call = store.posts.create(post(id, { body, authorId: 'ann' }));
          await call.then(
            () => made.push(id),
            async () => {
              expect((await unavailable(call)).details.outcome).to.equal('none');
              refused += 1;
            },
          );
        }),
      );
    }
    expect(made.length).to.be.greaterThan(3);
    expect(refused).to.be.greaterThan(3);
    const found = await store.transfer.posts.scan({ limit: 1000, bytes: 2 ** 24 });
    expect(found.map(({ record }) => record.id)).to.have.members(made);

    // When there is space again, it is used.
    await store.posts.delete(made[0] ?? '');
    await store.posts.create(post('again', { body }));
    await store.close();
    expectSound(path);
  });

  it('says so once, is not ready meanwhile, and is again when there is space', async () => {
    const database = new DatabaseSync(folder.file());
    const said: string[] = [];
    const error = (_: object, message: string) => said.push(message);
    const logger = { info() {}, warn() {}, error };
    const store = folder.open(undefined, { logger }, () => database);
    await store.ready();
    await store.users.create(user('ann'));
    const body = 'x'.repeat(20_000);
    const fill = async () => {
      for (let n = 0; ; n++) await store.posts.create(post(`${said.length}-${n}`, { body }));
    };
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 30}`);
    await unavailable(fill());
    for (let n = 0; n < 3; n++) {
      expect((await unavailable(store.ready())).details.outcome).to.equal('none');
    }
    expect(await store.posts.get('0-0')).not.to.equal(undefined);
    expect(said).to.have.length(1);
    expect(said[0]).to.match(/^The disk is full/);
    database.exec('PRAGMA max_page_count = 100000');
    await store.ready();
    await store.posts.create(post('again', { body }));
    expect(database.prepare('SELECT count(*) AS n FROM claims').get()?.n).to.equal(0);
  });
});
