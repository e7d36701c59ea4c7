import { systemClock } from '../../adapters/system/index.ts';
import { itself } from '../../domain/access.ts';
import { isRostrumError } from '../../domain/errors.ts';
import { jsonEqual } from '../../domain/json.ts';
import {
  type Collection,
  type Entity,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer } from '../../ports/transfer.ts';
import { type Counts, counted } from '../count.ts';
import { Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { batches, type Records, storeSource, transferOf } from './source.ts';

export interface CopyOptions extends LongRun {
  /** Whether the target's other records may be removed or replaced. */
  readonly overwrite: boolean;
}

/**
 * Makes a store hold what another one holds: records as they are, with ids, versions and times.
 *
 * Both sides are read by id, and only what differs is loaded. Then both are read again and compared,
 * record by record. So an interrupted copy is simply run again. A target that holds records is looked
 * at first, so that a refused one is left as it was.
 *
 * @throws Failure when the target has other records that may not be overwritten, when the source is
 * empty and the target is not, when it has an id that cannot be one, or when they differ in the end
 */
export async function copyRecords(
  from: Store,
  to: Store,
  { overwrite, progress, signal }: CopyOptions,
): Promise<Counts> {
  const transfer: Record<Collection, RecordTransfer<Entity>> = transferOf(to);
  for (const list of ['users', 'posts'] as const) {
    if ((await from[list].get(itself)) !== undefined) throw cannotBeId(list);
  }
  const [source, target] = [storeSource(from, signal), storeSource(to, signal)];
  const [all, before] = [await source.count(), await target.count()];
  const pairsOf = (list: Collection) => pairs(source[list](), target[list]());

  /** Compares the sides and changes nothing. */
  const compare = async () => {
    const counts = { users: 0, posts: 0 };
    const [differing, others] = [none(), none()];
    progress.begin('comparing', all.users + all.posts);
    for (const list of ['users', 'posts'] as const) {
      for await (const pair of pairsOf(list)) {
        const { given, stored } = pair;
        const name = `the ${list.slice(0, -1)} ${(given ?? stored)?.record.id}`;
        if (isOther(pair)) note(others, name);
        if (!isSame(pair)) note(differing, name);
        if (given === undefined) continue;
        counts[list] += 1;
        progress.advance(1);
      }
    }
    progress.end();
    return { counts, differing, others };
  };

  /** What of the source differs. Removes what only the target has, if it may. */
  const differing = async function* (list: Collection) {
    for await (const pair of pairsOf(list)) {
      const { given, stored } = pair;
      if (given !== undefined) progress.advance(1);
      if (given !== undefined && !isSame(pair)) yield given;
      if (given !== undefined || stored === undefined || !overwrite) continue;
      const { id } = stored.record;
      if (list === 'posts') await to.posts.delete(id);
      else await to.users.delete(id, 'delete', systemClock.now());
    }
  };

  /** Loads what differs. @returns whether a record was in conflict with what is stored */
  const carryOver = async (list: Collection): Promise<boolean> => {
    let hasConflict = false;
    progress.begin(list, all[list]);
    for await (const batch of batches(differing(list), ({ json }) => json.length)) {
      const refused = await load(transfer[list], batch);
      if (refused.length === 0) continue;
      hasConflict = true;
      // Another user of the target still has the address. An author can only be missing where the
      // source changed, which is seen when the sides are compared.
      if (list === 'users') await transfer.users.load(refused.map(withoutAddress));
    }
    progress.end();
    return hasConflict;
  };

  if (before.users + before.posts > 0) {
    if (all.users + all.posts === 0) throw nothingToCopy();
    const { counts, differing, others } = await compare();
    if (differing.count === 0) return counts;
    if (others.count > 0 && !overwrite) throw otherRecords(others);
  }
  // An address that moved between users is free when all users of the target were seen once.
  if (await carryOver('users')) await carryOver('users');
  await carryOver('posts');
  const compared = await compare();
  if (compared.differing.count === 0) return compared.counts;
  throw sidesDiffer(compared.differing);
}

/** The records of both sides with the same id; one of them may be missing. */
interface Pair {
  readonly given: Versioned<Entity> | undefined;
  readonly stored: Versioned<Entity> | undefined;
}

/** Reads both sides once, by id. Loading a given record does not disturb the reading. */
async function* pairs(given: Records, stored: Records): AsyncGenerator<Pair> {
  const [givens, storeds] = [given[Symbol.asyncIterator](), stored[Symbol.asyncIterator]()];
  let [left, right] = [await givens.next(), await storeds.next()];
  while (!left.done || !right.done) {
    const [a, b] = [left.done ? undefined : left.value, right.done ? undefined : right.value];
    const order = a && b ? compareText(a.record.id, b.record.id) : Number(!a) - Number(!b);
    yield { given: order <= 0 ? a : undefined, stored: order >= 0 ? b : undefined };
    if (order <= 0) left = await givens.next();
    if (order >= 0) right = await storeds.next();
  }
}

function isSame({ given, stored }: Pair): boolean {
  if (given === undefined || stored === undefined || given.version !== stored.version) return false;
  return given.json === stored.json || jsonEqual(given.record, stored.record);
}

/** True for a record of the target that the source does not have, or that is newer than there. */
function isOther({ given, stored }: Pair): boolean {
  if (given === undefined || stored === undefined) return given === undefined;
  return stored.version > given.version || stored.record.updatedAt > given.record.updatedAt;
}

/**
 * Loads all records that are not in conflict with what is stored.
 *
 * @returns those that are
 */
async function load(
  transfer: RecordTransfer<Entity>,
  batch: readonly Versioned<Entity>[],
): Promise<readonly Versioned<Entity>[]> {
  try {
    await transfer.load(batch);
    return [];
  } catch (error) {
    const isConflict =
      isRostrumError(error, 'email-taken') || isRostrumError(error, 'invalid-record');
    if (!isConflict) throw error;
    if (batch.length === 1) return batch;
  }
  const refused: Versioned<Entity>[] = [];
  for (const one of batch) refused.push(...(await load(transfer, [one])));
  return refused;
}

function withoutAddress({ record, version }: Versioned<Entity>): Versioned<Entity> {
  return new VersionedRecord({ ...record, email: null }, version);
}

/** Records: how many, and one of them for people. */
interface Some {
  count: number;
  example: string;
}

function none(): Some {
  return { count: 0, example: '' };
}

function note(some: Some, name: string): void {
  some.count += 1;
  some.example ||= name;
}

function otherRecords({ count, example }: Some): Failure {
  return new Failure(
    `The target holds ${counted(count, 'record')} that the source does not have, or has in an earlier ` +
      `state (${example}): choose another target, or use --overwrite to replace them by what the source has.`,
  );
}

function cannotBeId(list: Collection): Failure {
  return new Failure(
    `The source has a ${list.slice(0, -1)} with the id "${itself}", which stands for the caller in a path: ` +
      'export the source, give the record another id, and import that.',
  );
}

function nothingToCopy(): Failure {
  return new Failure(
    'The source holds no record, and the target would be emptied: check that the source is the right one.',
  );
}

function sidesDiffer({ count, example }: Some): Failure {
  return new Failure(
    `The two sides differ in ${counted(count, 'record')} (${example}): one of them was written to ` +
      'meanwhile; run the same command again, and it carries over the rest.',
  );
}
