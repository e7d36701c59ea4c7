import { expect } from 'chai';
import { errorOf } from '../../support/error-of.ts';
import { watched } from './support/faults.ts';
import { Folder } from './support/folder.ts';
import { post, unavailable, user } from './support/records.ts';

const never = new Int32Array(new SharedArrayBuffer(4));
const filter = { authorId: 'ann', updatedAt: { from: '2026-05-05T05:05:06.000Z' } };
const page = { limit: 10, bytes: 2 ** 20, total: true };
const lists = {
  'in order': { ...page, order: { by: 'createdAt', direction: 'asc' }, filter },
  sorted: { ...page, order: { by: 'title', direction: 'asc' }, filter },
} as const;

describe('long lists of the sqlite store', () => {
  const folder = new Folder();
  let windows = 0;
  /** Each window takes longer than a turn of the event loop may. */
  const slow = watched((sql) => {
    if (!/INDEXED BY.*(LIMIT \?$|updated_at >= \?$)|^SELECT count.*INDEXED BY/.test(sql)) return;
    windows += 1;
    Atomics.wait(never, 0, 0, 11);
  });

  /** Of 600 posts, five far apart match, the titles backwards. */
  async function open() {
    const store = folder.open(folder.file(), {}, slow);
    const records = Array.from({ length: 600 }, (_, n) => {
      const second = n % 120 === 60 ? '07' : '05';
      const updatedAt = `2026-05-05T05:05:${second}.000Z`;
      return post(`p${1000 + n}`, { title: `T${2000 - n}`, updatedAt, authorId: 'ann' });
    });
    const load = records.map((record) => ({ record, version: 1, json: JSON.stringify(record) }));
    await store.users.create(user('ann'));
    await store.transfer.posts.load(load);
    windows = 0;
    return store;
  }

  for (const [name, request] of Object.entries(lists)) {
    it(`${name}: others have their turns, and all is of one moment`, async () => {
      const store = await open();
      const list = store.posts.list(request);
      const seen: number[] = [];
      let done = false;
      list.finally(() => {
        done = true;
      });
      for (let n = 0; !done; n++) {
        await store.posts.get('p1000');
        if (windows !== seen.at(-1)) seen.push(windows);
        const updatedAt = '2026-05-05T05:05:09.000Z';
        const late = { title: 'T1700x', authorId: 'ann' };
        if (n === 2) await store.posts.create(post('late', { ...late, updatedAt }));
        await new Promise(setImmediate);
      }
      const { items, total } = await list;
      const ids = ['p1060', 'p1180', 'p1300', 'p1420', 'p1540'];
      const found = items.map(({ record }) => record.id);
      expect(found).to.deep.equal(name === 'sorted' ? ids.toReversed() : ids);
      expect(total).to.equal(5);
      expect(seen.length, 'turns of others').to.be.greaterThan(5);
      expect((await store.posts.list({ ...request, limit: 3 })).total).to.equal(6);
    });

    it(`${name}: an aborted one reads no further`, async () => {
      const store = await open();
      const reason = new Error('gone');
      const aborting = new AbortController();
      const list = errorOf(store.posts.list({ ...request, signal: aborting.signal }));
      aborting.abort(reason);
      const before = windows;
      expect(await list).to.equal(reason);
      expect(windows).to.equal(before);
    });

    it(`${name}: one that is under way when the store is closed ends`, async () => {
      const store = await open();
      const list = unavailable(store.posts.list(request));
      await store.close();
      await list;
    });

    it(`${name}: pages of a window each make up the whole list`, async () => {
      const store = await open();
      const { items } = await store.posts.list(request);
      const ids: string[] = [];
      let next: Awaited<ReturnType<typeof store.posts.list>>['next'];
      do {
        const found = await store.posts.list({ ...request, limit: 1, after: next, total: false });
        ids.push(...found.items.map(({ record }) => record.id));
        next = found.next;
      } while (next !== undefined);
      expect(ids).to.deep.equal(items.map(({ record }) => record.id));
    });
  }
});
