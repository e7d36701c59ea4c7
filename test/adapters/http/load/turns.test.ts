import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Line } from '../../../../src/adapters/http/load/line.ts';
import { Turns } from '../../../../src/adapters/http/load/turns.ts';

const exchange = { signal: new AbortController().signal };
setMaxListeners(0, exchange.signal);

/** Turns of which the first one is over. */
function fullTurns(): Turns {
  const turns = new Turns();
  turns.take('key', exchange);
  work(12);
  return turns;
}

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe('the turns of the event loop', () => {
  it('begin in later ones what does not fit in one, in its order', async () => {
    const turns = fullTurns();
    const begun: number[] = [];
    const all = Array.from({ length: 20 }, async (_, n) => {
      await turns.take('key', exchange);
      begun.push(n);
      work(3);
    });
    await setImmediate();
    expect(begun).to.have.length.below(20);
    await Promise.all(all);
    expect(begun).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });

  it('go round the keys, however many requests of one wait', async () => {
    const turns = fullTurns();
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

  it('are refused where too many of the same key wait, and nowhere else', () => {
    const turns = fullTurns();
    for (let n = 0; n < 256; n++) {
      turns.check('key');
      turns.take('key', exchange);
    }
    expect(() => turns.check('key'))
      .to.throw()
      .with.property('code', 'overloaded');
    turns.check('other');
  });

  it('are refused where the line is as long as it may be', () => {
    const turns = fullTurns();
    for (let n = 0; n < 1000; n++) turns.take(`key ${n}`, exchange);
    expect(() => turns.check('other'))
      .to.throw()
      .with.property('code', 'overloaded');
  });
});
