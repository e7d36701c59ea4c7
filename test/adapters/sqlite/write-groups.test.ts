import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
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
      if (/^(INSERT INTO|UPDATE|DELETE FROM) (users|posts)\b/.test(sql))
        groups.push((groups.pop() ?? 0) + 1);
    });
    const store = folder.open(folder.file(), { writes: limits }, driver);
    groups.length = 0;
    return { store, groups };
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

  it('writes that come in together share a commit, and their order', async () => {
    const { store, groups } = openCounting();
    const ended: string[] = [];
    await Promise.all(
      numbers(50).map(async (id) => {
        await store.users.create(user(id));
        ended.push(id);
      }),
    );
    // More than one only where the first took 3 ms.
    expect(groups.length, 'commits').to.be.below(5);
    expect(ended).to.deep.equal(numbers(50));
  });

  it('one that fails fails alone', async () => {
    const { store, groups } = openCounting();
    await store.users.create(user('taken', { email: 'a@b' }));
    const results = await Promise.allSettled([
      store.users.create(user('1')),
      store.users.create(user('2', { email: 'A@B' })),
      store.users.update('taken', () => {
        throw new RangeError('decided so');
      }),
      store.posts.create(post('p', { authorId: 'nobody' })),
      store.users.create(user('3')),
    ]);
    expect(groups).to.deep.equal([1, 4]); // The statements that were run, but for events.
    const ends = results.map((result) =>
      result.status === 'fulfilled' ? 'made' : (result.reason.code ?? result.reason.name),
    );
    expect(ends).to.deep.equal(['made', 'email-taken', 'RangeError', 'invalid-record', 'made']);
    expect(await store.users.get('2')).to.equal(undefined);
    expect(await store.users.get('3')).not.to.equal(undefined);
  });

  it('are bounded, and the event loop turns between two of them', async () => {
    const { store, groups } = openCounting();
    const writes = Promise.all(numbers(1200).map((id) => store.users.create(user(id))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(groups.length, 'groups').to.be.below(3);
    await writes;
    expect(Math.max(...groups)).to.be.at.most(500);
    expect(groups.reduce((sum, count) => sum + count)).to.equal(1200);
  });

  it('the queue is bounded; what is over is overloaded', async () => {
    const { store } = openCounting({ queuedWrites: 3 });
    const results = await Promise.allSettled(numbers(5).map((id) => store.users.create(user(id))));
    const refused = results.map((one) => one.status === 'rejected' && one.reason);
    expect(refused.slice(0, 3)).to.deep.equal([false, false, false]);
    for (const error of refused.slice(3))
      expect(isRostrumError(error, 'overloaded')).to.equal(true);
    expect(await store.users.get('3')).to.equal(undefined);
    await store.users.create(user('3'));
  });
});
