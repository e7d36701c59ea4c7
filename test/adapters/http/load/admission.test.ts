import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Admission } from '../../../../src/adapters/http/load/admission.ts';

const request = () => ({ inProgress: undefined });
/** One request fills a turn. */
const least = Number.MIN_VALUE;
const limits = {
  inProgress: 1000,
  turnMs: least,
  busyTurnMs: least,
  waitMs: 100,
  shortLine: 256,
  longLine: Number.POSITIVE_INFINITY,
};

describe('the admission of requests', () => {
  it('bounds those in progress, each kind alone', () => {
    const admission = new Admission(2, { ...limits, turnMs: 1000 });
    const first = request();
    for (const one of [first, request()]) admission.enter(one, 'read');
    expect(() => admission.wait('read'))
      .to.throw()
      .with.property('code', 'overloaded');
    admission.wait('write');
    admission.wait('list');
    admission.leave(first);
    admission.wait('read');
  });

  it('counts a request once that leaves twice', () => {
    const admission = new Admission(2, { ...limits, turnMs: 1000 });
    const [first, second] = [request(), request()];
    for (const one of [first, second]) admission.enter(one, 'read');
    for (const one of [first, first]) admission.leave(one);
    admission.enter(request(), 'read');
    expect(() => admission.wait('read'))
      .to.throw()
      .with.property('code', 'overloaded');
  });

  it('begins those that do not fit in a turn in later ones, in their order', async () => {
    const admission = new Admission(limits.inProgress, limits);
    const begun: number[] = [];
    const all = Array.from({ length: 20 }, async (_, n) => {
      await admission.wait('write');
      begun.push(n);
    });
    await setImmediate();
    expect(begun).to.have.length.below(20);
    await Promise.all(all);
    expect(begun).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });

  it('begins no more of a long line in one turn than were served in such a time lately', async () => {
    const most = 16; // That many begin in any case.
    const turns = { turnMs: 30, busyTurnMs: most };
    const line = { shortLine: 1, waitMs: Number.POSITIVE_INFINITY };
    const admission = new Admission(limits.inProgress, { ...limits, ...turns, ...line });
    const work = (ms: number) => {
      for (const end = performance.now() + ms; performance.now() < end; );
    };
    const begun: number[] = [0];
    let isOver = false;
    const countTurns = () => {
      begun.push(0);
      if (!isOver) globalThis.setImmediate(countTurns);
    };
    countTurns();
    admission.wait('read');
    work(turns.turnMs); // So those that come now stand in line.
    const all = Array.from({ length: 200 }, async () => {
      await admission.wait('read');
      begun[begun.length - 1] = (begun.at(-1) ?? 0) + 1;
      work(1);
    });
    await Promise.all(all);
    isOver = true;
    const counts = begun.filter((count) => count > 0);
    // In the first two turns, the pace is not known yet. It counts one more that has just begun.
    expect(Math.max(...counts.slice(2))).to.be.at.most(most + 1);
    expect(counts.length).to.be.above(5);
  });

  it('lets nobody join a line in which he would wait for too long', async () => {
    const admission = new Admission(Infinity, { ...limits, waitMs: 0, shortLine: 8 });
    const line: (Promise<void> | undefined)[] = [];
    const joinsInVain = () => {
      try {
        line.push(admission.wait('read'));
        return false;
      } catch {
        return true;
      }
    };
    // The line grows faster than it moves, until its pace is known.
    for (let n = 0; !joinsInVain(); n++) if (n % 100 === 0) await setImmediate();
    expect(() => admission.wait('write'))
      .to.throw()
      .with.property('code', 'overloaded');
    // And forgets its pace when it was not busy for a while.
    await Promise.all(line);
    await sleep(1100);
    for (let n = 0; n < 20; n++) expect(joinsInVain()).to.equal(false);
  });

  it('lets nobody join a line that is as long as it may be', () => {
    const admission = new Admission(limits.inProgress, { ...limits, longLine: 3 });
    for (let n = 0; n < 4; n++) admission.wait('write');
    expect(() => admission.wait('read'))
      .to.throw()
      .with.property('code', 'overloaded');
  });
});
