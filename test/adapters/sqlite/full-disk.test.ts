import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { Folder, look, value } from './support/folder.ts';
import { post, user } from './support/records.ts';

describe('a sqlite store that runs out of disk', () => {
  const folder = new Folder();

  it('refuses what does not fit, keeps what it acknowledged, and goes on', async () => {
    const path = folder.file();
    let opened: DatabaseSync | undefined;
    const store = folder.open(path, {
      database: (file) => {
        const database = new DatabaseSync(file);
        if (file === path) opened = database;
        return database;
      },
    });
    await store.users.create(user('ann'));
    opened?.exec('PRAGMA max_page_count = 60');
    const body = 'x'.repeat(20_000);
    const made: string[] = [];
    let refused = 0;
    for (let round = 0; round < 20; round++) {
      const group = Array.from({ length: 5 }, (_, i) => `${round}-${i}`);
      const results = await Promise.allSettled(
        group.map(async (id) => {
          await store.posts.create(post(id, { body, authorId: 'ann' }));
          made.push(id);
        }),
      );
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        expect(isRostrumError(result.reason, 'store-unavailable')).to.equal(true);
        expect(result.reason.details.outcome).to.equal('none');
        refused += 1;
      }
    }
    expect(made.length).to.be.greaterThan(3);
    expect(refused).to.be.greaterThan(3);
    const page = { order: { by: 'title', direction: 'asc' }, limit: 1000 } as const;
    const found = async () =>
      (await store.posts.list({}, page)).items.map(({ record }) => record.id);
    expect(await found()).to.have.members(made);

    // When there is space again, it is used.
    await store.posts.delete(made[0] ?? '');
    await store.posts.create(post('again', { body }));
    await store.close();
    look(path, (database) => {
      expect(value(database, 'PRAGMA integrity_check')).to.equal('ok');
      expect(value(database, 'SELECT count(*) FROM posts')).to.equal(made.length);
    });
  });
});
