import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Exchange } from '../../../../src/adapters/http/exchange.ts';
import type { RequestKind } from '../../../../src/adapters/http/load/admission.ts';
import { ResponseMemory } from '../../../../src/adapters/http/load/response-memory.ts';
import { json, type Response } from '../../../../src/adapters/http/response.ts';
import { until } from '../../../support/until.ts';

const page = json(200, 'page');
const exchange = { checkWaited() {}, checkClient() {} } as unknown as Exchange;

/** Counts those that left and those that entered again. */
function admission() {
  const left: unknown[] = [];
  const entered: unknown[] = [];
  return {
    left,
    entered,
    leave(one: object) {
      left.push(one);
      Object.assign(one, { inProgress: undefined });
    },
    enter(one: object, inProgress: RequestKind) {
      entered.push(one);
      Object.assign(one, { inProgress });
    },
  };
}

function busy(ms: number): void {
  for (const start = performance.now(); performance.now() - start < ms; );
}

describe('the memory of responses', () => {
  it('lets no list of a usual limit wait for the large ones of others', async () => {
    const { left, ...inProgress } = admission();
    const memory = new ResponseMemory(8 * 1024 * 1024, inProgress);
    const gate = Promise.withResolvers<Response>();
    let made = 0;
    const large = Array.from({ length: 5 }, () =>
      memory.list(exchange, 1000, 'quick', () => {
        made += 1;
        return gate.promise;
      }),
    );
    for (const limit of [1, 20, 100]) {
      expect(await memory.list(exchange, limit, 'quick', async () => page)).to.equal(page);
    }
    expect(made, 'large pages at a time').to.be.within(1, 3);
    gate.resolve(page);
    expect(await Promise.all(large)).to.deep.equal(Array(5).fill(page));
    expect(left, 'lists that are no longer in progress').to.have.length.of.at.least(5);
  });

  for (const [what, take] of Object.entries({
    'to parse its records': () => ({ parsingMs: 20 }),
    'in an embedded store': () => {
      busy(20);
      return {};
    },
  })) {
    it(`lets only lists of slow shapes wait for one that took long ${what}`, async () => {
      const { left, ...inProgress } = admission();
      const memory = new ResponseMemory(8 * 1024 * 1024, inProgress);
      const slow = (make: () => Promise<Response>) => memory.list(exchange, 1, 'slow', make);
      const takeLong = async () => ({ ...page, ...take() });
      for (let n = 0; n < 3; n++) await slow(takeLong);
      left.length = 0;
      let isMade = false;
      const next = slow(async () => {
        isMade = true;
        return page;
      });
      for (let n = 0; n < 40; n++) {
        expect(await memory.list(exchange, 1, 'quick', async () => page)).to.equal(page);
      }
      await nextTurn();
      expect([isMade, left], 'at once, in progress').to.deep.equal([false, [exchange]]);
      await next;
      // What proves to be quick is no longer slow.
      for (let n = 0; n < 20; n++) await slow(async () => page);
      await memory.list(exchange, 1, 'other', async () => ({ ...page, parsingMs: 200 }));
      left.length = 0;
      await slow(async () => page);
      expect(left).to.deep.equal([]);
    });
  }

  describe('of changes', () => {
    const large = json(200, 'changed');
    const of = (inProgress: RequestKind) => ({ ...exchange, inProgress }) as Exchange;
    const slow = async () => ({ ...large, madeOf: 2 * 1024 * 1024 });

    it('lets those of a large record wait for each other, and no others', async () => {
      const { left, entered, ...inProgress } = admission();
      const memory = new ResponseMemory(8 * 1024 * 1024, inProgress);
      const made: string[] = [];
      const change = (id: string) =>
        memory.change(of('write'), id, async () => {
          made.push(id);
          return large;
        });
      await memory.change(exchange, 'large', slow); // Until then, nobody knows.
      const gate = Promise.withResolvers<Response>();
      const underWay = memory.change(exchange, 'large', () => gate.promise);
      const waiting = change('large');
      expect(await change('small')).to.equal(large);
      expect(await memory.list(exchange, 100, 'quick', async () => page)).to.equal(page);
      await nextTurn();
      expect([made, left.length, entered.length], 'at once').to.deep.equal([['small'], 1, 0]);
      gate.resolve(large);
      await Promise.all([underWay, waiting]);
      expect([made, entered.length]).to.deep.equal([['small', 'large'], 1]);
    });

    it('reckons one that fails by the time that it took', async () => {
      const memory = new ResponseMemory(8 * 1024 * 1024, admission());
      for (let n = 0; n < 2; n++) {
        const failing = memory.change(exchange, 'large', async () => {
          busy(20);
          throw new RangeError('not changed');
        });
        expect(await failing.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
      }
      let isMade = false;
      const next = memory.change(exchange, 'large', async () => {
        isMade = true;
        return page;
      });
      await nextTurn();
      expect(isMade, 'at once').to.equal(false);
      await next;
    });

    it('makes none that waited where too many are in progress by then', async () => {
      const inProgress = admission();
      const memory = new ResponseMemory(8 * 1024 * 1024, inProgress);
      await memory.change(exchange, 'large', slow);
      const gate = Promise.withResolvers<Response>();
      const underWay = memory.change(exchange, 'large', () => gate.promise);
      inProgress.enter = () => {
        throw new RangeError('full');
      };
      let isMade = false;
      const refused = memory.change(of('write'), 'large', async () => {
        isMade = true;
        return page;
      });
      gate.resolve(large);
      await underWay;
      expect(await refused.catch((error: unknown) => error)).to.be.instanceOf(RangeError);
      expect(isMade).to.equal(false);
    });
  });

  it('makes no list whose client went away while it waited', async () => {
    const memory = new ResponseMemory(8 * 1024 * 1024, admission());
    const gone = new Error('gone');
    const leaving = {
      checkWaited() {
        throw gone;
      },
    } as unknown as Exchange;
    let made = 0;
    for (const limit of [2, 1000]) {
      await memory.list(exchange, 2, `before ${limit}`, async () => ({ ...page, parsingMs: 20 }));
      const waited = memory.list(leaving, limit, 'quick', async () => {
        made += 1;
        return page;
      });
      expect(await waited.catch((error: unknown) => error)).to.equal(gone);
    }
    expect(made).to.equal(0);
    expect(await memory.list(exchange, 1000, 'quick', async () => page)).to.equal(page);
  });

  it('makes a large response again that has no room, and holds none until its client took it', async () => {
    const { left, ...inProgress } = admission();
    const memory = new ResponseMemory(5 * 128 * 1024, inProgress);
    const client = () => {
      const res = Object.assign(new EventEmitter(), { destroyed: false });
      return {
        res,
        req: { socket: { destroyed: false } },
        checkWaited() {},
      } as unknown as Exchange;
    };
    const [first, second] = [client(), client()];
    let made = 0;
    const make = async () => {
      made += 1;
      return json(200, 'x'.repeat(100 * 1024));
    };
    await memory.list(first, 100, 'quick', make);
    const waiting = memory.list(second, 100, 'quick', make);
    await until(() => left.length === 1, 'the second one waits');
    expect([made, left]).to.deep.equal([2, [second]]);
    // Small lists wait for no large ones of the same limit.
    for (const limit of [1, 20, 100]) {
      expect(await memory.list(client(), limit, 'quick', async () => page)).to.equal(page);
    }
    first.res.emit('close');
    expect((await waiting).body).to.have.length(100 * 1024);
    expect(made).to.equal(3);
  });

  it('holds the responses to changes: for another, the oldest is cut off at once', () => {
    const memory = new ResponseMemory(5 * 256 * 1024, admission());
    const cut: string[] = [];
    const change = (name: string, bytes: number) => {
      const socket = { destroyed: false, destroy: () => cut.push(name) };
      const res = Object.assign(new EventEmitter(), { destroyed: false });
      const one = { res, req: { socket } } as unknown as Exchange;
      memory.hold(one, json(201, 'x'.repeat(bytes)));
      return res;
    };
    const large = 100 * 1024;
    change('small', 1024);
    const taken = change('taken', large);
    change('oldest', large);
    taken.emit('close');
    change('older', large);
    expect(cut).to.deep.equal([]);
    change('newest', large);
    expect(cut).to.deep.equal(['oldest']);
  });
});
