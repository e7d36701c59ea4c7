import { expect } from 'chai';
import type { Rostrum } from '../../src/index.ts';
import type { ListQuery, Versioned } from '../../src/ports/index.ts';
import { type Fault, inBoth, openFaulty } from '../testing/faults.ts';
import { coreCalls } from './core-calls.ts';
import { runInLockStep } from './lock-step.ts';

const faults: readonly Pick<Fault, 'fault' | 'plant'>[] = [
  {
    fault: 'increments the version for an update that changes nothing',
    plant: inBoth((inner) => ({
      update: (id: string, decide: (current: Versioned<object>) => object) =>
        inner.update(id, (current) => ({ ...decide(current) }) as never),
    })),
  },
  {
    fault: 'drops the last record of the last page',
    plant: inBoth((inner) => ({
      async list(query: ListQuery) {
        const page = await inner.list(query);
        const isFull = page.next === undefined && page.items.length === query.limit;
        return isFull ? { ...page, items: page.items.slice(0, -1) } : page;
      },
    })),
  },
  {
    fault: 'exceeds the size limit of a page',
    plant: inBoth((inner) => ({
      list: (query: ListQuery) => inner.list({ ...query, bytes: 2 ** 30 }),
    })),
  },
];

describe('random calls compared to the memory store detect a store that', function () {
  this.timeout(30_000);

  for (const { fault, plant } of faults) {
    it(fault, async () => {
      const open = () => openFaulty(plant);
      const attach = async (rostrum: Rostrum) => ({ calls: coreCalls(rostrum) });
      const extent = { runs: 150, commands: 100, seed: 1, shrink: false };
      const error = await runInLockStep({ open, attach }, extent).catch((failed) => failed);
      expect(String(error.cause)).to.match(/AssertionError/);
    });
  }
});
