import { describeCreate } from './create.ts';
import { describeDelete } from './delete.ts';
import { describeDeleteRaces } from './delete-races.ts';
import { describeEventRaces } from './event-races.ts';
import { describeEvents } from './events.ts';
import { describeGet } from './get.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeCustomFilters } from './list-custom-filters.ts';
import { describeFilters } from './list-filters.ts';
import { describeOrders } from './list-orders.ts';
import { describePages } from './list-pages.ts';
import { describeRaces } from './races.ts';
import { describeReopen } from './reopen.ts';
import { type StoreContract, type Suite, suiteOn } from './suite.ts';
import { describeTransfer } from './transfer.ts';
import { describeUpdate } from './update.ts';
import { describeValues } from './values.ts';

export type { Runner, StoreContract } from './suite.ts';

/**
 * Every sentence of the ports' documentation as a test, for a store to prove that it can take
 * another's place. No part of it can be switched off; the three exceptions that the ports make are
 * conceded by name, and their tests' names say so.
 *
 * ```ts
 * import { describe, it } from 'node:test';
 * import { describeStore } from 'rostrum/testing';
 *
 * describeStore('my store', { describe, it, open: (options) => openMyStore(options) });
 * ```
 */
export function describeStore(name: string, contract: StoreContract): void {
  const { another } = contract;
  const suite = suiteOn(contract);
  const racing = suiteOn(contract, another);
  contract.describe(name, () => {
    for (const [group, declare] of Object.entries(groups)) {
      const isRace = another !== undefined && group.startsWith('races');
      const title = isRace ? `${group}, on two handles in turn` : group;
      contract.describe(title, () => declare(isRace ? racing : suite));
    }
    if (contract.reopen) contract.describe('reopen', () => describeReopen(suite));
  });
}

const groups: Readonly<Record<string, (suite: Suite) => void>> = {
  get: describeGet,
  'list: orders': describeOrders,
  'list: filters': describeFilters,
  'list: custom filters': describeCustomFilters,
  'list: pages': describePages,
  create: describeCreate,
  update: describeUpdate,
  delete: describeDelete,
  values: describeValues,
  races: describeRaces,
  'races of deletions': describeDeleteRaces,
  lifecycle: describeLifecycle,
  transfer: describeTransfer,
  events: describeEvents,
  'races of followers': describeEventRaces,
};
