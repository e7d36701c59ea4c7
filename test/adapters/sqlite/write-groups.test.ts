import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { RecordVersioned } from '../../../src/domain/record.ts';
import { watched } from './support/faults.ts';
import { Folder } from './support/folder.ts';
import { post, user } from './support/records.ts';

describe('write groups of the sqlite store', () => {
  const folder = new Folder();

  /** A store, and what its transactions were: the number of writes in each. */
  function openCounting(limits = {}) {
    const groups: number[] = [];
    const driver = watched((sql) => {
      if (sql === 'BEGIN IMMEDIATE') groups.push(0);
      if (/^(INSERT|UPDATE|DELETE)/.test(sql)) groups.push((groups.pop() ?? 0) + 1);
    });
    // However slow the machine is, time divides no group where it is not asked to.
    const writes = { groupMs: 60_000, ...limits };
    const store = folder.open(folder.file(), { writes }, driver);
    groups.length = 0;
    return { store, groups };
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

  it('writes that come in together share a commit, and their order', async () => {
    const { store, groups } = openCounting();
    const ended: string[] = [];
    await Promise.all(
      numbers(50).map(async (id) => {
        await store.users.create(() => user(id));
        ended.push(id);
      }),
    );
    expect(groups).to.deep.equal([50]);
    expect(ended).to.deep.equal(numbers(50));
  });

  it('changes of long records have some of their own, one at a time', async () => {
    const { store, groups } = openCounting();
    await store.posts.create(() => post('long', { body: 'x'.repeat(100_000) }));
    const ended: string[] = [];
    const begin = (name: string, write: Promise<unknown>) => write.then(() => ended.push(name));
    const change = (title: string) =>
      begin(
        title,
        store.posts.update('long', (record) => ({ ...record.record, title })),
      );
    const changes = ['1', '2', '3'].map(change);
    const others = numbers(5).map((id) =>
      begin(
        'other',
        store.users.create(() => user(id)),
      ),
    );
    changes.push(change('4'));
    await Promise.all([...changes, ...others]);
    expect(ended).to.deep.equal([...Array(5).fill('other'), '1', '2', '3', '4']);
    expect(groups.filter((writes) => writes > 0)).to.deep.equal([1, 5, 1, 1, 1, 1]);
    expect((await store.posts.get('long'))?.version).to.equal(5);
  });

  it('one that fails fails alone', async () => {
    const { store, groups } = openCounting();
    await store.users.create(() => user('taken', { email: 'a@b' }));
    const results = await Promise.allSettled([
      store.users.create(() => user('1')),
      store.users.create(() => user('2', { email: 'A@B' })),
      store.users.update('taken', () => {
        throw new RangeError('decided so');
      }),
      store.posts.create(() => post('p', { authorId: 'nobody' })),
      store.users.create(() => user('3')),
    ]);
    expect(groups).to.deep.equal([1, 4]); // The statements that were run.
    const ends = results.map((result) =>
      result.status === 'fulfilled' ? 'made' : (result.reason.code ?? result.reason.name),
    );
    expect(ends).to.deep.equal(['made', 'email-taken', 'RangeError', 'invalid-record', 'made']);
    expect(await store.users.get('2')).to.equal(undefined);
    expect(await store.users.get('3')).not.to.equal(undefined);
  });

  it('one that fails half-way leaves nothing of itself', async () => {
    const { store } = openCounting();
    await store.users.create(() => user('ann'));
    const records = ['1', '2', '2', '3'].map((id) => new RecordVersioned(user(id), 1));
    const orphan = new RecordVersioned(post('p', { authorId: 'nobody' }), 1);
    const [loaded, failed, made] = await Promise.allSettled([
      store.transfer.users.load(records),
      store.transfer.posts.load([new RecordVersioned(post('q'), 1), orphan]),
      store.users.create(() => user('ben')),
    ]);
    expect([loaded, failed, made].map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await store.posts.get('q')).to.equal(undefined);
    expect(await store.users.get('3')).not.to.equal(undefined);
  });

  it('grow while each turn of the event loop brings more writes', async () => {
    const { store, groups } = openCounting();
    const writes: Promise<unknown>[] = [];
    for (let turn = 0; turn < 5; turn++) {
      writes.push(store.users.create(() => user(`${turn}`)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writes);
    expect(groups).to.deep.equal([5]);
  });

  it('a group is bounded in count', async () => {
    const { store, groups } = openCounting({ groupWrites: 20 });
    await Promise.all(numbers(50).map((id) => store.users.create(() => user(id))));
    expect(groups).to.deep.equal([20, 20, 10]);
  });

  it('a group is bounded in time, and one write is always let in', async () => {
    const { store, groups } = openCounting({ groupMs: 0 });
    await Promise.all(numbers(4).map((id) => store.users.create(() => user(id))));
    expect(groups).to.deep.equal([1, 1, 1, 1]);
  });

  it('the queue is bounded; what is over is overloaded', async () => {
    const { store } = openCounting({ queuedWrites: 3 });
    const results = await Promise.allSettled(
      numbers(5).map((id) => store.users.create(() => user(id))),
    );
    const refused = results.map((one) => one.status === 'rejected' && one.reason);
    expect(refused.slice(0, 3)).to.deep.equal([false, false, false]);
    for (const error of refused.slice(3))
      expect(isRostrumError(error, 'overloaded')).to.equal(true);
    expect(await store.users.get('3')).to.equal(undefined);
    await store.users.create(() => user('3'));
  });

  it('lets the event loop turn between two groups', async () => {
    const { store, groups } = openCounting({ groupWrites: 1 });
    const writes = Promise.all(numbers(10).map((id) => store.users.create(() => user(id))));
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(groups.length, 'groups').to.be.within(1, 3);
    await writes;
    expect(groups).to.have.length(10);
  });
});
