import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { WorkQueue } from '../../../../src/adapters/http/load/work-queue.ts';

describe('a queue of work', () => {
  it('lets so much work begin in each turn, in the order in which it was asked for', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4 });
    const begun: number[] = [];
    const work = Array.from({ length: 5 }, (_, n) => queue.take(6, 1000).then(() => begun.push(n)));
    const seen: number[] = [];
    for (let i = 0; i < 10; i++) {
      seen.push(begun.length);
      await turn();
    }
    await Promise.all(work);
    expect(begun).to.deep.equal([0, 1, 2, 3, 4]);
    // Other turns lie between.
    expect(new Set(seen.slice(1))).to.deep.equal(new Set([2, 4, 5]));
    expect(seen.slice(1, 4)).to.deep.equal([2, 2, 2]);
  });

  it('lets others wait when work took more than was thought, the longer the more it was', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4 });
    for (const [cost, least] of [
      [11, 4],
      [41, 12],
    ] as const) {
      queue.settle(await queue.take(1, 1000), cost);
      let hasBegun = false;
      const next = queue.take(0, 1000).then(() => {
        hasBegun = true;
      });
      for (let n = 0; n < least - 1; n++) {
        await turn();
        expect(hasBegun).to.equal(false);
      }
      await next;
    }
  });

  it('lets work of unknown cost begin as such work cost lately, and not all at once', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4 });
    queue.settle(await queue.take(undefined, 1000), 50);
    let begun = 0;
    const work = Array.from({ length: 5 }, () => queue.take(undefined, 1000).then(() => ++begun));
    for (const [turns, most] of [
      [22, 1],
      [4, 2],
      [4, 3],
    ] as const) {
      for (let n = 0; n < turns; n++) await turn();
      expect(begun).to.be.within(1, most);
    }
    await Promise.all(work);
    // Small work makes it forget.
    for (let n = 0; n < 10; n++) queue.settle(await queue.take(undefined, 1000), 0);
    let hasBegun = 0;
    for (let n = 0; n < 5; n++) void queue.take(undefined, 1000).then(() => ++hasBegun);
    for (let n = 0; n < 10; n++) await turn();
    expect(hasBegun).to.equal(5);
  });

  it('lets work begin at once when there is little of it', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4 });
    for (let i = 0; i < 3; i++) {
      let hasBegun = false;
      void queue.take(100, 1000).then(() => {
        hasBegun = true;
      });
      await Promise.resolve();
      await Promise.resolve();
      expect(hasBegun).to.equal(true);
      for (let n = 0; n < 40; n++) await turn();
    }
  });

  it('lets nobody overtake, and what was reckoned with too much lets no more begin at once', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4 });
    const begun: number[] = [];
    const first = Array.from({ length: 3 }, (_, n) =>
      queue.take(10, 1000).then(() => begun.push(n)),
    );
    await turn();
    queue.spend(-10);
    await Promise.all([queue.take(10, 1000).then(() => begun.push(3)), ...first]);
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    for (let n = 0; n < 10; n++) await turn();
    queue.spend(-100);
    let hasBegun = 0;
    const next = Array.from({ length: 5 }, () => queue.take(10, 1000).then(() => ++hasBegun));
    await turn();
    expect(hasBegun).to.equal(1);
    await Promise.all(next);
  });

  it('lets no more be under way than it may, however little that is', async () => {
    const queue = new WorkQueue(10, { turnsBetween: 4, mostUnderWay: 1 });
    const begun: number[] = [];
    const take = (n: number) => queue.take(1, 1000).then(() => begun.push(n));
    const all = [0, 1, 2].map(take);
    for (let n = 0; n < 3; n++) {
      for (let turns = 0; turns < 20; turns++) await turn();
      expect(begun).to.have.length(n + 1);
      if (n === 1) queue.cancel({ cost: 1, isKnown: true });
      else queue.settle({ cost: 1, isKnown: true }, 50);
    }
    await Promise.all(all);
    expect(begun).to.deep.equal([0, 1, 2]);
  });

  it('lets nobody wait for longer than they want to', async () => {
    const queue = new WorkQueue(10, { mostUnderWay: 1 });
    const begun = await queue.take(1, 1000);
    const late = queue.take(1, 20).catch((error: unknown) => error);
    const patient = queue.take(1, 1000);
    expect(await late).to.include({ code: 'overloaded' });
    queue.settle(begun, 1);
    expect(await patient).to.include({ cost: 1 });
  });
});
