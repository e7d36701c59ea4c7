import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { watched } from './support/faults.ts';
import { Folder } from './support/folder.ts';
import { post, user } from './support/records.ts';

const pad = (n: number) => String(n).padStart(4, '0');

describe('moving whole sqlite stores', () => {
  const folder = new Folder();

  it('loads records as they are, all in one transaction, and scans them by id', async () => {
    let commits = 0;
    const store = folder.open(folder.file(), {
      database: watched((sql) => {
        if (sql === 'COMMIT') commits += 1;
      }),
    });
    const users = Array.from({ length: 250 }, (_, i) => ({ record: user(pad(i)), version: i + 1 }));
    await store.users.load(users.toReversed());
    expect(commits).to.equal(1);
    expect(await store.users.scan(200)).to.deep.equal(users.slice(0, 200));
    expect(await store.users.scan(200, pad(199))).to.deep.equal(users.slice(200));
    await store.users.load(users);
    expect(await store.users.scan(1000)).to.deep.equal(users);
  });

  it('a record takes the place of the one with its id, and its posts stay', async () => {
    const store = folder.open();
    await store.users.create(user('ann', { email: 'a@b' }));
    await store.posts.create(post('p', { authorId: 'ann' }));
    const ann = { record: user('ann', { email: 'c@d', own: [1] }), version: 7 };
    await store.users.load([ann]);
    expect(await store.users.get('ann')).to.deep.equal(ann);
    expect((await store.posts.get('p'))?.record.authorId).to.equal('ann');
  });

  it('emails and authors are judged as in every write, and nothing half is left', async () => {
    const store = folder.open();
    await store.users.create(user('ann', { email: 'a@b' }));
    const taken = [user('ben'), user('eve', { email: 'A@B' }), user('ann')];
    const failed = async (call: Promise<void>) => call.catch((reason: unknown) => reason);
    const error = await failed(store.users.load(taken.map((record) => ({ record, version: 1 }))));
    expect(isRostrumError(error, 'email-taken')).to.equal(true);
    expect(await store.users.get('eve')).to.equal(undefined);
    const orphan = { record: post('p', { authorId: 'nobody' }), version: 1 };
    expect(isRostrumError(await failed(store.posts.load([orphan])), 'invalid-record')).to.equal(
      true,
    );
  });
});
