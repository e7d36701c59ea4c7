import { expect } from 'chai';
import { addMs } from '../../../src/domain/records/instant.ts';
import { makeReceipt } from '../../../src/domain/records/receipt.ts';
import { Folder, look, value } from './support/folder.ts';
import { user } from './support/records.ts';

const start = '2026-05-05T05:05:05.000Z';
const day = 24 * 60 * 60 * 1000;
const receiptOf = (key: string, now: string) =>
  makeReceipt({ idempotencyKey: key }, 'users', {}, now);

describe('receipts of the SQLite store', () => {
  const folder = new Folder();

  it('are removed after they expire, four with each new one', async () => {
    const path = folder.file();
    const store = folder.open(path);
    const create = async (id: string, now: string) =>
      store.users.create(user(id), await receiptOf(id, now));
    await Promise.all(Array.from({ length: 20 }, (_, i) => create(`old ${i}`, start)));
    await create('of today', addMs(start, 2 * day));
    const left = () => look(path, (database) => value(database, 'SELECT count(*) FROM receipts'));
    expect(left()).to.equal(17);
    for (let i = 0; i < 10; i++) await create(`new ${i}`, addMs(start, 2 * day));
    expect(left()).to.equal(11);
  });

  it('are found again if the clock is set back a little', async () => {
    const store = folder.open();
    await store.users.create(user('ann'), await receiptOf('k', start));
    await store.users.create(user('ben'), await receiptOf('l', addMs(start, day)));
    const again = await store.users.create(user('eve'), await receiptOf('k', start));
    expect([again.replayed, again.record.id]).to.deep.equal([true, 'ann']);
  });
});
