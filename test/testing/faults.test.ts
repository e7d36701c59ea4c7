import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Store, StoreOptions } from '../../src/ports/index.ts';
import { deletions } from './faults/deletions.ts';
import { events } from './faults/events.ts';
import { handles, handlesWith } from './faults/handles.ts';
import { ids } from './faults/ids.ts';
import { limits, surrogates } from './faults/limits.ts';
import { moments } from './faults/moments.ts';
import { bytesRead, inBoth, openPlanted } from './faults/plant.ts';
import { races } from './faults/races.ts';
import { receipts } from './faults/receipts.ts';
import { values } from './faults/values.ts';
import { collect, failuresOf } from './runner.ts';

const reason = 'a server without transactions';

describe('the contract suite', () => {
  it('passes on a store without a fault that is wrapped as the faulty ones are', async () => {
    const tests = collect((options) => openPlanted({}, options), { bytesRead });
    expect([...(await failuresOf(tests))]).to.deep.equal([]);
  });

  it('opens one store for each test, with custom filters of every type, and closes it', async () => {
    const opened: StoreOptions[] = [];
    let open = 0;
    const tests = collect((options) => {
      opened.push(options);
      open++;
      const store = createMemoryStore(options);
      let isClosed = false;
      const close = async () => {
        if (!isClosed) open--;
        isClosed = true;
        await store.close();
      };
      return { ...store, close, [Symbol.asyncDispose]: close };
    });
    await failuresOf(tests);
    expect(opened).to.have.lengthOf(tests.length);
    expect(open, 'stores that were not closed').to.equal(0);
    for (const { customFilters } of opened) {
      const types = ['text', 'number', 'boolean'];
      expect(Object.values(customFilters?.users ?? {})).to.include.members(types);
      expect(Object.values(customFilters?.posts ?? {})).to.include.members(types);
    }
  });

  it('passes on a store with several handles on the same data, one after another, too', async () => {
    const { open, ...others } = handlesWith({});
    const tests = collect(open, others).filter(({ name }) => !/close/.test(name));
    expect([...(await failuresOf(tests))]).to.deep.equal([]);
  });

  const kinds = [
    races,
    receipts,
    deletions,
    values,
    ids,
    limits,
    moments,
    surrogates,
    handles,
    events,
  ];
  for (const { fault, breaks, says = /./, plan } of kinds.flat()) {
    it(`fails “${breaks} …” on a store that ${fault}`, async () => {
      const { open, ...others } = handlesWith(plan);
      const tests = collect(open, { ...others, bytesRead }).filter(({ name }) =>
        name.includes(breaks),
      );
      const failures = await failuresOf(tests);
      expect(tests).to.not.deep.equal([]);
      expect([...failures.keys()]).to.deep.equal(tests.map(({ name }) => name));
      for (const error of failures.values()) {
        const { message } = error as Error;
        expect(message).to.match(/^The store is wrong: /);
        expect(message).to.match(says);
      }
    });
  }

  it('shows the cause of an error that nobody expected, and the call that ended in it', async () => {
    const cause = new RangeError('no such table');
    const plan = inBoth(() => ({ get: () => Promise.reject(cause) }));
    const tests = collect((options) => openPlanted(plan, options)).filter(({ name }) =>
      name.includes('an id that names nothing'),
    );
    const errors = [...(await failuresOf(tests)).values()] as Error[];
    expect(errors.map((error) => error.cause)).to.deep.equal([cause, cause]);
    const call = String.raw`(users|posts)\.get\("none"\)`;
    const says = `${call} ended in RangeError: no such table \\(the last call was ${call}\\)`;
    for (const { message } of errors) expect(message).to.match(RegExp(says));
  });

  describe('with a conceded exception', () => {
    const torn = deletions.filter(({ breaks }) => breaks.includes('readers see'));
    const withoutTransfer = (options: StoreOptions): Store => {
      const { transfer, ...store } = openPlanted({}, options);
      return store;
    };

    for (const { fault, plan } of torn) {
      it(`passes on a store that ${fault}, and names the reason`, async () => {
        const tests = collect((options) => openPlanted(plan, options), { tornCascades: reason });
        const readers = tests.filter(({ name }) => name.includes('readers see'));
        expect(readers.filter(({ name }) => name.includes(reason))).to.have.lengthOf(2);
        expect([...(await failuresOf(readers))]).to.deep.equal([]);
      });
    }

    it('asks for a transfer, unless it is told why there is none', async () => {
      const failures = await failuresOf(collect(withoutTransfer));
      expect(failures.size).to.be.above(10);
      const told = collect(withoutTransfer, { withoutTransfer: reason });
      expect(told.filter(({ name }) => name.includes(reason))).to.have.lengthOf(1);
      expect([...(await failuresOf(told))]).to.deep.equal([]);
      const untrue = collect((options) => openPlanted({}, options), { withoutTransfer: reason });
      const [only, ...others] = await failuresOf(untrue);
      expect([only?.[0].includes(reason), others]).to.deep.equal([true, []]);
    });

    it('asks for a log of events, unless it is told why there is none', async () => {
      const open = (options: StoreOptions): Store => {
        const { events: _, ...store } = openPlanted({}, options);
        return store;
      };
      const failures = await failuresOf(collect(open));
      expect(failures.size).to.be.above(10);
      for (const error of failures.values()) {
        expect((error as Error).message).to.match(/has no log of events/);
      }
      const told = collect(open, { withoutEvents: reason });
      expect(told.filter(({ name }) => name.includes(reason))).to.have.lengthOf(1);
      expect([...(await failuresOf(told))]).to.deep.equal([]);
      const untrue = collect((options) => openPlanted({}, options), { withoutEvents: reason });
      const [only, ...others] = await failuresOf(untrue);
      expect([only?.[0].includes(reason), others]).to.deep.equal([true, []]);
    });
  });
});
