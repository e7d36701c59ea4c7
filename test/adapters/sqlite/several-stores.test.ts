import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { Folder, look, value } from './support/folder.ts';
import { user } from './support/records.ts';

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
