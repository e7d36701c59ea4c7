import { expect } from 'chai';
import { Slots } from '../../../src/adapters/http/slots.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';

describe('slots', () => {
  it('let so many work at a time, and the others in their order', async () => {
    const slots = new Slots(2, 5000);
    const begun: number[] = [];
    let [now, most] = [0, 0];
    const work = (n: number) => async () => {
      begun.push(n);
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      if (n % 3 === 0) throw new RangeError(String(n));
    };
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const ends = await Promise.allSettled(numbers.map((n) => slots.run(work(n))));
    expect(most).to.equal(2);
    expect(begun).to.deep.equal(numbers);
    expect(ends.map(({ status }) => status === 'rejected')).to.deep.equal(
      numbers.map((n) => n % 3 === 0),
    );
  });

  it('let nobody wait for long', async () => {
    const slots = new Slots(1, 20);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = slots.run(() => promise);
    const error: unknown = await slots.run(async () => {}).catch((reason: unknown) => reason);
    expect(isRostrumError(error, 'overloaded')).to.equal(true);
    resolve();
    await first;
    expect(await slots.run(async () => 'free again')).to.equal('free again');
  });
});
