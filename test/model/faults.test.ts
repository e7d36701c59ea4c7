import { expect } from 'chai';
import type { Rostrum } from '../../src/index.ts';
import { type Fault, inBoth, openPlanted } from '../testing/faults/plant.ts';
import { receipts } from '../testing/faults/receipts.ts';
import { coreCalls } from './core-calls.ts';
import { runInLockStep } from './lock-step.ts';

const faults: Pick<Fault, 'fault' | 'plan'>[] = [
  {
    fault: 'counts a change that changes nothing',
    plan: inBoth((inner) => ({
      update: (id, decide) => inner.update(id, (current) => ({ ...decide(current) })),
    })),
  },
  {
    fault: 'drops the last record of a last page',
    plan: inBoth((inner) => ({
      async list(request) {
        const page = await inner.list(request);
        const isFull = page.next === undefined && page.items.length === request.limit;
        return isFull ? { ...page, items: page.items.slice(0, -1) } : page;
      },
    })),
  },
  {
    fault: 'does not end a page where it gets too large',
    plan: inBoth((inner) => ({ list: (request) => inner.list({ ...request, bytes: 2 ** 30 }) })),
  },
  ...receipts.filter(({ fault }) => /as it is now|very moment/.test(fault)),
];

describe('random calls in lock step find a store that', function () {
  this.timeout(30_000);

  for (const { fault, plan } of faults) {
    it(fault, async () => {
      const open = () => openPlanted(plan, {});
      const attach = async (rostrum: Rostrum) => ({ calls: coreCalls(rostrum) });
      const extent = { runs: 150, commands: 100, seed: 1, shrink: false };
      const error = await runInLockStep({ open, attach }, extent).catch((failed) => failed);
      expect(String(error.cause)).to.match(/AssertionError/);
    });
  }
});
