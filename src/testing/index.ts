import { describeAuthors } from './authors.ts';
import { describeClaims } from './claims.ts';
import { describeCreation } from './creation.ts';
import { describeDeletion, describeUserDeletion } from './deletion.ts';
import { describeDeletionRaces } from './deletion-races.ts';
import { describeEmails } from './emails.ts';
import { describeFilters } from './filters.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeListChanges } from './list-changes.ts';
import { describeOrders } from './orders.ts';
import { describeOwnFields } from './own-fields.ts';
import { describePages } from './pages.ts';
import { describeRaces } from './races.ts';
import { type StoreContract, suiteOn } from './suite.ts';
import { describeTransfer } from './transfer.ts';
import { describeUpdates } from './updates.ts';
import { describeValues } from './values.ts';

export type { Runner, StoreContract } from './suite.ts';

/**
 * Every sentence of the ports' documentation as a test, for a store to prove that it can take
 * another's place. No part of it can be switched off; the two exceptions that the ports make are
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
  const suite = suiteOn(contract);
  suite.group(name, () => {
    for (const describeGroup of groups) describeGroup(suite);
  });
}

const groups = [
  describeValues,
  describeOwnFields,
  describeCreation,
  describeClaims,
  describeUpdates,
  describeEmails,
  describeAuthors,
  describeDeletion,
  describeUserDeletion,
  describeOrders,
  describeFilters,
  describePages,
  describeRaces,
  describeDeletionRaces,
  describeListChanges,
  describeLifecycle,
  describeTransfer,
];
