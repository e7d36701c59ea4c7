import pg from 'pg';
import {
  emailTaken,
  isRostrumError,
  type Outcome,
  storeUnavailable,
  unknownAuthor,
} from 'rostrum/ports';

/** What a store refuses, by the name of the constraint that sees it. */
const refusals: Readonly<Record<string, () => Error>> = {
  unique_email: emailTaken,
  known_author: unknownAuthor,
};

/** Connections, resources, shutdown, the system; a standby, and what was rolled back for another one. */
const unavailable = /^(?:08|53|57|58|25006|40)/;

/** An error of the driver as one of the ports; what is left is a mistake of this store. */
export function errorOf(error: unknown, outcome: Outcome): unknown {
  // What has no code of the server never came from there: the connection broke, or time was up.
  if (!(error instanceof pg.DatabaseError)) return storeUnavailable(outcome, error);
  const refuse = refusals[error.constraint ?? ''];
  if (refuse !== undefined) return refuse();
  if (!unavailable.test(error.code ?? '')) return error;
  return storeUnavailable(isRolledBack(error) ? 'none' : outcome, error);
}

/** True for the loser of a deadlock or of a race between transactions: it may be made again. */
export function wasRolledBack(error: unknown): boolean {
  return isRostrumError(error, 'store-unavailable') && isRolledBack(error.cause);
}

function isRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40/.test(error.code ?? '');
}
