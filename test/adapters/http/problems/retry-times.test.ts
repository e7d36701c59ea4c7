import { expect } from 'chai';
import fc from 'fast-check';
import { RetryTimes } from '../../../../src/adapters/http/problems/retry-times.ts';

describe('retry times', () => {
  it('bring back 100 clients a second, from 1 to 30 seconds later', () => {
    const times = new RetryTimes();
    const given = Array.from({ length: 2900 }, () => times.next(5));
    for (let second = 2; second < 30; second++) {
      expect(given.filter((one) => one === second)).to.have.lengthOf.within(99, 101);
    }
    expect(given).to.deep.equal(given.toSorted((a, b) => a - b));
  });

  it('start again at 1 second after the longest time, and once no client is due', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 40, noNaN: true })), (pauses) => {
        const times = new RetryTimes();
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          const given = new Set(Array.from({ length: 1000 }, () => times.next(now)));
          expect(Math.min(...given)).to.be.at.least(1);
          expect(Math.max(...given)).to.be.at.most(30);
        }
        expect(times.next(now + 30)).to.equal(1);
      }),
      { numRuns: 50 },
    );
  });
});
