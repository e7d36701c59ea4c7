import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect } from 'chai';
import { waitForIteration } from '../../../src/adapters/mongodb/documents.ts';
import { limits } from '../../../src/adapters/mongodb/limits.ts';

describe('decoding documents', () => {
  it('lets other work run, however small the documents are', async () => {
    let iterations = 0;
    let isOver = false;
    const other = (async () => {
      for (; !isOver; iterations++) await nextIteration();
    })();
    const size = 13_000;
    for (let bytes = 0; bytes < 10 * limits.bytesPerIteration; bytes += size)
      await waitForIteration(size);
    isOver = true;
    await other;
    expect(iterations).to.be.within(9, 20);
  });
});
