import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

const mebibyte = 2 ** 20;

function heap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('the memory store', () => {
  it('keeps no earlier versions of a record, in no order that was listed', async () => {
    const { posts } = createRostrum(createMemoryStore());
    const post = await posts.create({ title: 'large', body: '', large: 'x'.repeat(1e6) });
    await posts.list({ order: { by: 'title', direction: 'asc' } });
    await posts.list({ order: { by: 'updatedAt', direction: 'desc' } });
    const before = heap();
    for (let n = 0; n < 40; n++) await posts.patch(post.record.id, { title: `${n}` });
    expect((heap() - before) / mebibyte).to.be.below(10); // 38 with all of them.
    const { items } = await posts.list({ order: { by: 'title', direction: 'asc' } });
    expect(items.map(({ record }) => record.title)).to.deep.equal(['39']);
  });

  for (const count of [300, 1200, 3000]) {
    it(`puts ${count} changes between two lists in their places`, async () => {
      const { posts } = createRostrum(createMemoryStore());
      const order = { by: 'title', direction: 'asc' } as const;
      const create = (n: number) =>
        posts.create({ title: String(10_000_000 + ((n * 7919) % 16_000)) });
      const made = [];
      for (let n = 0; n < 12_000; n++) made.push((await create(n)).record);
      await posts.list({ order });
      for (const [n, { id }] of made.slice(0, count).entries()) {
        if (n % 3 === 0) await posts.delete(id);
        else if (n % 3 === 1) await posts.patch(id, { title: String(20_000_000 - n) });
        else await create(n + made.length);
      }
      const read = async (request: object) => {
        const titles: string[] = [];
        for await (const { record } of posts.all(request)) titles.push(record.title + record.id);
        return titles;
      };
      const sorted = (await read({})).sort();
      expect(sorted).to.have.length(made.length);
      expect(await read({ order })).to.deep.equal(sorted);
    });
  }
});
