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
    const database = watched((sql) => {
      if (sql === 'BEGIN IMMEDIATE') groups.push(0);
      if (sql.startsWith('SAVEPOINT')) groups.push((groups.pop() ?? 0) + 1);
    });
    // However slow the machine is, time divides no group where it is not asked to.
    const writes = { groupMs: 60_000, ...limits };
    const store = folder.open(folder.file(), { database, writes });
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
    expect(groups).to.deep.equal([50]);
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
    expect(groups).to.deep.equal([1, 5]);
    const ends = results.map((result) =>
      result.status === 'fulfilled' ? 'made' : (result.reason.code ?? result.reason.name),
    );
    expect(ends).to.deep.equal(['made', 'email-taken', 'RangeError', 'invalid-record', 'made']);
    expect(await store.users.get('2')).to.equal(undefined);
    expect(await store.users.get('3')).not.to.equal(undefined);
  });

  it('one that fails half-way leaves nothing of itself', async () => {
    const { store } = openCounting();
    await store.users.create(user('ann'));
    await Promise.all(numbers(3).map((id) => store.posts.create(post(id, { authorId: 'ann' }))));
    let released = 0;
    const release = () => {
      if (++released === 3) throw new RangeError('enough');
      return post(`${released - 1}`, { title: 'changed' });
    };
    const [failed] = await Promise.allSettled([
      store.users.delete('ann', { posts: 'keep', release }),
      store.users.create(user('ben')),
    ]);
    expect(failed).to.have.property('reason').that.is.instanceOf(RangeError);
    const page = { order: { by: 'title', direction: 'asc' }, limit: 10 } as const;
    const { items } = await store.posts.list({ authorId: 'ann' }, page);
    expect(items.map(({ record, version }) => [record.title, version])).to.deep.equal([
      ['T', 1],
      ['T', 1],
      ['T', 1],
    ]);
  });

  it('a release that leaves a post with its author is refused', async () => {
    const { store } = openCounting();
    await store.users.create(user('ann'));
    await store.posts.create(post('1', { authorId: 'ann' }));
    const release = () => post('1', { authorId: 'ann', title: 'changed' });
    const error: unknown = await store.users
      .delete('ann', { posts: 'keep', release })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TypeError);
    expect((await store.posts.get('1'))?.version).to.equal(1);
  });

  it('a group is bounded in count', async () => {
    const { store, groups } = openCounting({ groupWrites: 20 });
    await Promise.all(numbers(50).map((id) => store.users.create(user(id))));
    expect(groups).to.deep.equal([20, 20, 10]);
  });

  it('a group is bounded in what it writes, and one write is always let in', async () => {
    const { store, groups } = openCounting({ groupText: 10_000 });
    const body = 'x'.repeat(6000);
    await Promise.all(numbers(4).map((id) => store.posts.create(post(id, { body }))));
    await store.posts.create(post('large', { body: 'x'.repeat(50_000) }));
    expect(groups).to.deep.equal([2, 2, 1]);
  });

  it('a group is bounded in time, and one write is always let in', async () => {
    const { store, groups } = openCounting({ groupMs: 0 });
    await Promise.all(numbers(4).map((id) => store.users.create(user(id))));
    expect(groups).to.deep.equal([1, 1, 1, 1]);
  });

  it('the queue is bounded in count and in text; what is over is overloaded', async () => {
    for (const limits of [{ queuedWrites: 3 }, { queuedText: 35_000 }]) {
      const { store } = openCounting(limits);
      const body = 'x'.repeat(10_000);
      const results = await Promise.allSettled(
        numbers(5).map((id) => store.posts.create(post(id, { body }))),
      );
      const refused = results.map((one) => one.status === 'rejected' && one.reason);
      expect(refused.slice(0, 3)).to.deep.equal([false, false, false]);
      for (const error of refused.slice(3))
        expect(isRostrumError(error, 'overloaded')).to.equal(true);
      expect(await store.posts.get('3')).to.equal(undefined);
      await store.posts.create(post('3', { body: 'x'.repeat(100_000) }));
    }
  });

  it('many shapes of lists, more than are kept prepared, are served all the same', async () => {
    const { store } = openCounting();
    await store.users.create(user('ann'));
    for (let round = 0; round < 2; round++) {
      for (let set = 0; set < 128; set++) {
        const on = (bit: number) => (set & (1 << bit)) !== 0;
        const filter = {
          ...(on(0) && { name: 'Name of ann' }),
          ...(on(1) && { ids: ['ann', 'ben'] }),
          createdAt: { ...(on(2) && { from: '2026-01-01T00:00:00.000Z' }) },
          updatedAt: { ...(on(3) && { before: '2027-01-01T00:00:00.000Z' }) },
        };
        const by = on(4) ? (on(5) ? 'name' : 'email') : on(5) ? 'createdAt' : 'updatedAt';
        const direction = on(6) ? 'asc' : 'desc';
        const page = { order: { by, direction }, limit: 9, total: true } as const;
        const { items, total } = await store.users.list(filter, page);
        expect([items.length, total]).to.deep.equal([1, 1]);
      }
    }
  });

  it('lets the event loop turn between two groups', async () => {
    const { store, groups } = openCounting({ groupWrites: 1 });
    const writes = Promise.all(numbers(10).map((id) => store.users.create(user(id))));
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(groups.length).to.be.within(1, 3);
    await writes;
    expect(groups).to.have.length(10);
  });
});
