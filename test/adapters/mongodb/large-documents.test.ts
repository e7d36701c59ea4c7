import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { LargeDocuments } from '../../../src/adapters/mongodb/connection/large-documents.ts';

const mebibyte = 1024 * 1024;

describe('large documents', () => {
  it('are worked on one after another, in order, with turns in between; small ones at once', async () => {
    const documents = new LargeDocuments();
    const begun: number[] = [];
    const work = [1, 2, 3].map((n) => documents.wait(n * mebibyte).then(() => begun.push(n)));
    await documents.wait(1000);
    const seen: number[] = [];
    for (let turns = 0; turns < 200; turns++) {
      seen.push(begun.length);
      await nextTurn();
    }
    await Promise.all(work);
    expect(begun).to.deep.equal([1, 2, 3]);
    for (const [count, least] of [
      [1, 32],
      [2, 64],
    ] as const) {
      expect(seen.filter((length) => length === count)).to.have.length.within(least - 4, least + 4);
    }
  });

  it('have no room for more while many bytes wait', async () => {
    const documents = new LargeDocuments();
    const work = Array.from({ length: 3 }, () => documents.wait(16 * mebibyte));
    expect(documents.room).to.be.instanceOf(Promise);
    await documents.room;
    await Promise.all(work);
    expect(documents.room).to.equal(undefined);
  });
});
