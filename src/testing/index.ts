import { describeCreate } from './create.ts';
import { describeDeclaredFields } from './declared-fields.ts';
import { describeDelete } from './delete.ts';
import { describeDeleteRaces } from './delete-races.ts';
import { describeEventRaces, describeEvents } from './events.ts';
import { describeGet } from './get.ts';
import { describeLifecycle, describeReopen } from './lifecycle.ts';
import { describeFilters } from './lists/list-filters.ts';
import { describePages } from './lists/list-pages.ts';
import { describeRaces } from './races.ts';
import { type StoreContract, type Suite, suiteOn } from './suite.ts';
import { describeTransfer } from './transfer.ts';
import { describeValues } from './values.ts';
import { describeWalks } from './walk/walk.ts';

export type { Runner, StoreContract, Walks } from './suite.ts';

/**
 * Declares tests that check a store against the documentation of the ports. They can't check durability: what
 * is left after a crash or a power failure.
 *
 * You can't switch off single tests. If the store leaves out one of the members `transfer` and `events`, its
 * contract says why, and the name of a test shows the reason. Some rules are checked only if the contract has
 * the optional functions `another`, `reopen` and `bytesRead`.
 *
 * ```ts
 * import { describe, it } from 'node:test';
 * import { describeStore } from 'rostrum/testing';
 *
 * describeStore('my store', { describe, it, open: (options) => openMyStore(options) });
 * ```
 */
export function describeStore(name: string, contract: StoreContract): void {
  const { another, describe, reopen } = contract;
  const suite = suiteOn(contract);
  const suiteOfTwo = suiteOn(contract, another);
  describe(name, () => {
    for (const [group, declare] of Object.entries(groups)) describe(group, () => declare(suite));
    for (const [group, declare] of Object.entries(groupsOfTwo)) {
      const title = another ? `${group}, on two handles in turn` : group;
      describe(title, () => declare(suiteOfTwo));
    }
    if (reopen) {
      describe('reopen', () => describeReopen(suite, reopen));
      describe('random walks with restarts', () => describeWalks(suite, reopen));
    }
  });
}

type Groups = Readonly<Record<string, (suite: Suite) => void>>;

const groups: Groups = {
  get: describeGet,
  'list: conditions': describeFilters,
  'list: pages': describePages,
  'declared fields': describeDeclaredFields,
  create: describeCreate,
  delete: describeDelete,
  values: describeValues,
  lifecycle: describeLifecycle,
  transfer: describeTransfer,
  events: describeEvents,
};

/** Groups that use two handles on the same data, if the contract can open a second one. */
const groupsOfTwo: Groups = {
  races: describeRaces,
  'races of deletions': describeDeleteRaces,
  'races of followers': describeEventRaces,
  'random walks': describeWalks,
};
