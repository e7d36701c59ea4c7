import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Budget } from '../../../../src/adapters/http/load/budget.ts';

describe('a budget of memory', () => {
  it('refuses what has no room, until something is given back', () => {
    const budget = new Budget(10);
    const share = budget.take(8);
    expect(() => budget.take(3))
      .to.throw()
      .with.property('code', 'overloaded');
    budget.resize(share, 7);
    const other = budget.take(3);
    for (const one of [share, share, other]) budget.give(one);
    budget.take(10);
    expect(() => budget.take(1))
      .to.throw()
      .with.property('code', 'overloaded');
  });

  it('gives one share that is larger than itself', () => {
    const budget = new Budget(10);
    const share = budget.take(20);
    expect(() => budget.take(1))
      .to.throw()
      .with.property('code', 'overloaded');
    budget.give(share);
    budget.take(20);
  });

  it('admits who waits in their order', async () => {
    const budget = new Budget(10);
    const share = budget.take(10);
    const order: string[] = [];
    const wait = async (name: string, bytes: number) => {
      const own = await budget.wait(bytes);
      order.push(name);
      return own;
    };
    const large = wait('large', 8);
    const small = wait('small', 3);
    budget.give(share);
    const first = await large;
    await Promise.resolve();
    expect(order).to.deep.equal(['large']);
    budget.give(first);
    await small;
    expect(order).to.deep.equal(['large', 'small']);
  });

  it('lets nobody wait for long', async () => {
    const budget = new Budget(10, { holderMs: 20, waiterMs: 50 });
    const share = budget.take(10);
    const error: unknown = await budget.wait(1).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'overloaded');
    budget.give(share);
    await budget.wait(10);
  });

  it('cuts off the client who has held its share for the longest time, and no other', async () => {
    const budget = new Budget(10, { holderMs: 20, waiterMs: 1000 });
    const cut: string[] = [];
    const hold = (name: string) => budget.dependOn(budget.take(3), () => cut.push(name));
    hold('oldest');
    budget.take(3); // Waits for nobody, and so is never cut off.
    hold('older');
    expect(() => budget.take(3))
      .to.throw()
      .with.property('code', 'overloaded');
    expect(cut).to.deep.equal([]);
    await sleep(30);
    budget.take(3);
    expect(cut).to.deep.equal(['oldest']);
    await budget.wait(3);
    expect(cut).to.deep.equal(['oldest', 'older']);
  });
});
