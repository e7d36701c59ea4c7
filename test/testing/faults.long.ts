import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { type Store, storeUnavailable } from '../../src/ports/index.ts';
import type { StoreContract } from '../../src/testing/index.ts';
import { type Fault, faults, overriding } from './faults.ts';
import { collect, failuresOf } from './runner.ts';

/** Opens handles on the same data. Closing one of them leaves the data to the others. */
function handlesWith(plant: Fault['plant']): Omit<StoreContract, 'describe' | 'it'> {
  const memories = new WeakMap<Store, Store>();
  const handleOn = (memory: Store) => {
    let isClosed = false;
    const close = async () => {
      isClosed = true;
    };
    const all = overriding(memory, { close, [Symbol.asyncDispose]: close, ...plant(memory) });
    const handle = whileOpen(all, () => isClosed);
    memories.set(handle, memory);
    return handle;
  };
  return {
    open: (options) => handleOn(createMemoryStore(options)),
    another: (store) => handleOn(memories.get(store) as Store),
  };
}

/** Rejects the calls of a closed handle. */
function whileOpen<T extends object>(target: T, isClosed: () => boolean): T {
  return new Proxy(target, {
    get(_, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member === 'object' && member !== null && key !== 'declaredFields')
        return whileOpen(member, isClosed);
      if (typeof member !== 'function' || key === 'close' || key === Symbol.asyncDispose)
        return member;
      return async (...values: unknown[]) => {
        if (isClosed()) throw storeUnavailable('none');
        return Reflect.apply(member, target, values);
      };
    },
  });
}

describe('the contract suite', () => {
  it('passes on a store without a fault, with two handles', async () => {
    const tests = collect(handlesWith(() => ({})));
    // Closing such a handle waits for nothing.
    const others = tests.filter(({ name }) => name !== 'close waits for pending changes');
    expect([...(await failuresOf(others))]).to.deep.equal([]);
  });

  it('has 27 planted faults', () => {
    expect(faults).to.have.lengthOf(27);
  });

  for (const { fault, breaks, says = /./, plant } of faults) {
    it(`fails “${breaks}” on a store that ${fault}`, async () => {
      const tests = collect(handlesWith(plant)).filter(({ name }) => name.includes(breaks));
      const failures = await failuresOf(tests);
      expect(tests).to.not.deep.equal([]);
      // Not every seed meets every fault.
      if (breaks === 'a random walk') expect(failures).to.not.be.empty;
      else expect([...failures.keys()]).to.deep.equal(tests.map(({ name }) => name));
      for (const { message } of failures.values()) {
        expect(message).to.match(/^The store is wrong: /);
        expect(message).to.match(says);
      }
    });
  }

  it('reports an unexpected error with the call and its arguments', async () => {
    const cause = new RangeError('no such table');
    const { open } = handlesWith(({ posts }) => ({
      posts: overriding(posts, { update: () => Promise.reject(cause) }),
    }));
    const tests = collect({ open }).filter(({ name }) => name.includes('posts: results of create'));
    const [error] = (await failuresOf(tests)).values();
    expect(error?.cause).to.equal(cause);
    const call = String.raw`posts\.update\("post-\d+", a function\)`;
    const says = `${call} ended in RangeError: no such table \\(the last call was ${call}\\)`;
    expect(error?.message).to.match(RegExp(says));
  });

  for (const member of ['transfer', 'events'] as const) {
    it(`requires ${member}, or a reason for leaving it out`, async () => {
      const open = handlesWith(() => ({ [member]: undefined })).open;
      const name = member === 'transfer' ? 'withoutTransfer' : 'withoutEvents';
      const failures = await failuresOf(collect({ open }).filter(isQuick));
      for (const { message } of failures.values()) expect(message).to.include(name);
      expect(failures.size).to.be.above(5);
      const told = collect({ open, [name]: 'its file can be copied' }).filter(isQuick);
      expect(told.filter((test) => test.name.includes('its file can be copied'))).to.have.lengthOf(
        1,
      );
      expect([...(await failuresOf(told))]).to.deep.equal([]);
      const untrue = collect({ ...handlesWith(() => ({})), [name]: 'its file can be copied' });
      const [only, ...others] = await failuresOf(untrue.filter(isQuick));
      expect(only?.[0]).to.include('its file can be copied');
      expect(others).to.deep.equal([]);
    });
  }
});

function isQuick({ name }: { readonly name: string }): boolean {
  return !/close|the largest record/i.test(name);
}
