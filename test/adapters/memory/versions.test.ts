import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const mebibyte = 2 ** 20;

function heap(): number {
  collect();
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
});
