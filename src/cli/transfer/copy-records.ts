import { systemClock } from '../../adapters/system/index.ts';
import { jsonEqual } from '../../domain/json.ts';
import {
  type Collection,
  type Entity,
  type Id,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer } from '../../ports/transfer.ts';
import { type Counts, counted } from '../count.ts';
import { conflictOf, Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { batches, type Records, storeSource, transferOf } from './source.ts';

export interface CopyOptions extends LongRun {
  /** Whether the target's other records may be removed or replaced. */
  readonly overwrite: boolean;
}

/**
 * Makes a store hold the records and the deleted ids of another store, with ids, versions and times.
 *
 * Reads both sides by id and loads only the records that differ. Then reads both again and compares them,
 * record by record. The target is marked until both sides are equal, so that no server serves half of a
 * copy; running an interrupted copy again completes it. A target that holds records is compared before
 * anything is written, so that a refused target stays as it was.
 *
 * @throws Failure when the target has other records and `overwrite` is false, when the source is empty and
 * the target is not, or when the sides differ in the end
 */
export async function copyRecords(
  from: Store,
  to: Store,
  { overwrite, progress, signal }: CopyOptions,
): Promise<Counts> {
  const sources: Record<Collection, RecordTransfer<Entity>> = transferOf(from);
  const transfer = transferOf(to);
  const targets: Record<Collection, RecordTransfer<Entity>> = transfer;
  const [source, target] = [storeSource(from, signal), storeSource(to, signal)];
  const [all, before] = [await source.count(), await target.count()];
  const pairsOf = (list: Collection) => pairs(source[list](), target[list]());

  /** Compares the sides and changes nothing. */
  const compare = async () => {
    const counts = { users: 0, posts: 0 };
    const [differing, others] = [none(), none()];
    progress.begin('comparing', all.users + all.posts);
    for (const list of collections) {
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

  const differing = async function* (list: Collection) {
    for await (const pair of pairsOf(list)) {
      const { given } = pair;
      if (given === undefined) continue;
      progress.advance(1);
      if (!isSame(pair)) yield given;
    }
  };

  /** Loads the records that differ. @returns true if the target refused one because of its other records */
  const carryOver = async (list: Collection): Promise<boolean> => {
    let hasConflict = false;
    progress.begin(list, all[list]);
    for await (const batch of batches(differing(list), ({ json }) => json.length)) {
      const refused = await load(targets[list], batch);
      if (refused.length === 0) continue;
      hasConflict = true;
      // Another user of the target still has the address. An author can only be missing where the
      // source changed, and the final comparison finds that.
      if (list === 'users') await load(targets.users, refused.map(withoutAddress));
    }
    progress.end();
    return hasConflict;
  };

  const removeOthers = async (list: Collection) => {
    for await (const { given, stored } of pairsOf(list)) {
      if (given !== undefined || stored === undefined) continue;
      const { id } = stored.record;
      if (list === 'posts') await to.posts.delete(id);
      else await to.users.delete(id, 'delete', systemClock.now());
    }
  };

  const carryOverDeleted = async (list: Collection) => {
    for (let after: Id | undefined; ; ) {
      signal.throwIfAborted();
      const ids = await sources[list].deleted.scan(mostDeleted, after);
      if (ids.length === 0) return;
      await targets[list].deleted.load(ids);
      after = ids.at(-1)?.id;
    }
  };

  let compared: Awaited<ReturnType<typeof compare>> | undefined;
  if (before.users + before.posts > 0) {
    if (all.users + all.posts === 0) throw nothingToCopy();
    compared = await compare();
    if (compared.others.count > 0 && !overwrite) throw otherRecords(compared.others);
  }
  await transfer.begin();
  if (compared?.differing.count !== 0) {
    const conflicts = { users: await carryOver('users'), posts: await carryOver('posts') };
    if (compared !== undefined && compared.others.count > 0) {
      // Posts first: a user without posts is removed at once, on every store.
      await removeOthers('posts');
      await removeOthers('users');
    }
    // By now, other records of the target have given up the addresses and unique values of the source's.
    for (const list of collections) if (conflicts[list]) await carryOver(list);
    compared = await compare();
  }
  // Last, because a store ignores the deleted id of a record that it still holds.
  for (const list of collections) await carryOverDeleted(list);
  if (compared.differing.count > 0) throw sidesDiffer(compared.differing);
  await transfer.end();
  return compared.counts;
}

const collections = ['users', 'posts'] as const;

/** How many deleted ids are read at once. */
const mostDeleted = 1000;

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

/**
 * True if the target has the record. Its version may be higher than in the source: a store that had
 * given a later version to the id, also to a deleted record, goes on from that version.
 */
function isSame({ given, stored }: Pair): boolean {
  if (given === undefined || stored === undefined || given.version > stored.version) return false;
  return given.json === stored.json || jsonEqual(given.record, stored.record);
}

/** True for a record of the target that is missing from the source, or newer than the one there. */
function isOther(pair: Pair): boolean {
  const { given, stored } = pair;
  if (given === undefined || stored === undefined) return given === undefined;
  const isNewer =
    stored.version > given.version || stored.record.updatedAt > given.record.updatedAt;
  return isNewer && !isSame(pair);
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
    if (conflictOf(error) === undefined) throw error;
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
    `The target holds ${counted(count, 'record')} missing from the source, or newer than ` +
      `there (${example}): choose another target, or use --overwrite to remove or replace them.`,
  );
}

function nothingToCopy(): Failure {
  return new Failure(
    'The source has no records, so copying it would empty the target: check --from.',
  );
}

function sidesDiffer({ count, example }: Some): Failure {
  return new Failure(
    `The two sides differ in ${counted(count, 'record')} (${example}), because one of them was changed ` +
      'during the copy: run the same command again to copy the rest.',
  );
}
