import { setMaxListeners } from 'node:events';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Line } from '../../../../src/adapters/http/load/line.ts';
import { Turns } from '../../../../src/adapters/http/load/turns.ts';

/** One request fills a turn. */
const least = Number.MIN_VALUE;
const limits = { turnMs: least, busyTurnMs: least };
const exchange = { signal: new AbortController().signal };

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe('the turns of the event loop', () => {
  it('begin in later ones what does not fit in one, in its order', async () => {
    const turns = new Turns(limits);
    const begun: number[] = [];
    const all = Array.from({ length: 20 }, async (_, n) => {
      await turns.take('key', exchange);
      begun.push(n);
    });
    await setImmediate();
    expect(begun).to.have.length.below(20);
    await Promise.all(all);
    expect(begun).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });

  it('go round the keys, however many requests of one wait', async () => {
    const turns = new Turns(limits);
    const begun: string[] = [];
    const take = async (key: string) => {
      await turns.take(key, exchange);
      begun.push(key);
      work(5);
    };
    await Promise.all([...Array.from({ length: 20 }, () => take('many')), take('one')]);
    expect(begun.indexOf('one')).to.be.below(3);
  });

  it('pass over no key for one that comes again and again', async () => {
    const line = new Line();
    const begun: string[] = [];
    const wait = async (key: string) => {
      await line.wait(() => true, exchange.signal, key);
      begun.push(key);
    };
    wait('again');
    for (let n = 0; n < 3; n++) {
      line.next();
      if (n === 0) wait('once');
      wait('again');
      await setImmediate();
    }
    expect(begun).to.deep.equal(['again', 'once', 'again']);
  });

  it('are left to others after one that held the process', async () => {
    const turns = new Turns();
    turns.take('key', exchange);
    work(40);
    let [count, isOver] = [0, false];
    const countTurns = () => {
      count += 1;
      if (!isOver) globalThis.setImmediate(countTurns);
    };
    countTurns();
    await turns.take('key', exchange);
    isOver = true;
    expect(count).to.be.above(60);
  });

  it('begin no more of a long line than were served in such a time lately', async () => {
    const most = 16; // That many begin in any case.
    const turnMs = 30;
    const waitMs = Number.POSITIVE_INFINITY;
    const turns = new Turns({ ...limits, turnMs, busyTurnMs: most, shortLine: 1, waitMs });
    const begun: number[] = [0];
    let isOver = false;
    const countTurns = () => {
      begun.push(0);
      if (!isOver) globalThis.setImmediate(countTurns);
    };
    countTurns();
    turns.take('key', exchange);
    work(turnMs); // So those that come now stand in line.
    const all = Array.from({ length: 200 }, async () => {
      turns.check('key');
      await turns.take('key', exchange);
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

  it('are refused where a line of the same key takes too long, and nowhere else', async () => {
    const turns = new Turns({ ...limits, waitMs: 0, shortLine: 8 });
    const line: (Promise<void> | undefined)[] = [];
    const isRefused = (key: string) => {
      try {
        turns.check(key);
        return false;
      } catch (error) {
        expect(error).to.have.property('code', 'overloaded');
        return true;
      }
    };
    // The line grows faster than it moves, until its pace is known.
    for (let n = 0; !isRefused('key'); n++) {
      line.push(turns.take('key', exchange));
      if (n % 100 === 0) await setImmediate();
    }
    // And forgets its pace when it was not busy for a while.
    await Promise.all(line);
    await sleep(1100);
    for (let n = 0; n < 20; n++) {
      expect(isRefused('key')).to.equal(false);
      turns.take('key', exchange);
    }
  });

  it('are refused where the line is as long as it may be', () => {
    const turns = new Turns(limits);
    const many = { signal: new AbortController().signal };
    setMaxListeners(0, many.signal);
    for (let n = 0; n <= 1000; n++) turns.take('key', many);
    expect(() => turns.check('other'))
      .to.throw()
      .with.property('code', 'overloaded');
  });
});
