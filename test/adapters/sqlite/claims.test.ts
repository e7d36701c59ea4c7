import { expect } from 'chai';
import { makeClaim } from '../../../src/domain/claim.ts';
import { addMs } from '../../../src/domain/instant.ts';
import { Folder, look, value } from './support/folder.ts';
import { user } from './support/records.ts';

const start = '2026-05-05T05:05:05.000Z';
const day = 24 * 60 * 60 * 1000;

describe('claims of the sqlite store', () => {
  const folder = new Folder();

  it('that ran out are removed, a few with each new one', async () => {
    const path = folder.file();
    const store = folder.open(path);
    const create = (id: string, now: string) =>
      store.users.create(user(id), makeClaim({ key: id, fingerprint: 'f' }, now));
    await Promise.all(Array.from({ length: 20 }, (_, i) => create(`old ${i}`, start)));
    await create('of today', addMs(start, 2 * day));
    const left = () => look(path, (database) => value(database, 'SELECT count(*) FROM claims'));
    expect(left()).to.equal(17);
    for (let i = 0; i < 10; i++) await create(`new ${i}`, addMs(start, 2 * day));
    expect(left()).to.equal(11);
  });

  it('are found again by a clock that steps back a little', async () => {
    const store = folder.open();
    const claim = makeClaim({ key: 'k', fingerprint: 'f' }, start);
    await store.users.create(user('ann'), claim);
    await store.users.create(
      user('ben'),
      makeClaim({ key: 'l', fingerprint: 'f' }, addMs(start, day)),
    );
    expect(await store.users.replay(claim)).to.deep.equal({ record: user('ann'), version: 1 });
  });

  it('are taken as they are when the call is made', async () => {
    const store = folder.open();
    const claim = { ...makeClaim({ key: 'k', fingerprint: 'f' }, start) };
    const made = store.users.create(user('ann'), claim);
    claim.key = 'another';
    await made;
    expect(await store.users.replay(claim)).to.equal(undefined);
    expect(await store.users.replay({ ...claim, key: 'k' })).not.to.equal(undefined);
  });
});
