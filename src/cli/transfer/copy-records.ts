import { systemClock } from '../../adapters/system/index.ts';
import { jsonEqual } from '../../domain/records/json.ts';
import {
  type Collection,
  type Entity,
  type Id,
  type Versioned,
  VersionedRecord,
} from '../../domain/records/record.ts';
import { compareText } from '../../domain/records/text.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer } from '../../ports/transfer.ts';
import { conflictOf, Failure } from '../failure.ts';
import type { Counts } from '../output.ts';
import type { LongRun } from '../run-long.ts';
import { batches, type Records, storeSource, transferOf } from './source.ts';

export interface CopyOptions extends LongRun {
  /** Whether to remove or replace other records of the target. */
  readonly overwrite: boolean;
}

/**
 * Copies the records and the deleted ids of a store to another store, with ids, versions and times.
 *
 * Reads both sides ordered by id, and loads only the records that differ. Then reads both again and compares
 * them. The target is marked until both sides are equal, so that no server serves half a copy; running an
 * interrupted copy again completes it. If the target has records, the sides are compared before anything
 * is written, so that a rejected target stays unchanged.
 *
 * @throws Failure if the target has other records and `overwrite` is false, if only the source is empty, or
 * if the sides differ at the end
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

  /** Compares both sides without changing anything. Names the first record that differs. */
  const compare = async () => {
    const counts = { users: 0, posts: 0 };
    let [differing, other]: readonly (string | undefined)[] = [];
    for (const list of collections) {
      for await (const pair of pairsOf(list)) {
        const { given, stored } = pair;
        const name = `the ${list.slice(0, -1)} ${(given ?? stored)?.record.id}`;
        if (isOther(pair)) other ??= name;
        if (!isSame(pair)) differing ??= name;
        if (given === undefined) continue;
        counts[list] += 1;
        progress(`compared ${list}`, counts[list], all[list]);
      }
    }
    return { counts, differing, other };
  };

  const differing = async function* (list: Collection) {
    let read = 0;
    for await (const pair of pairsOf(list)) {
      const { given } = pair;
      if (given === undefined) continue;
      progress(list, ++read, all[list]);
      if (!isSame(pair)) yield given;
    }
  };

  /** Loads the records that differ. @returns true if one conflicts with other records of the target */
  const carryOver = async (list: Collection): Promise<boolean> => {
    let hasConflict = false;
    for await (const batch of batches(differing(list), ({ json }) => json.length)) {
      const refused = await load(targets[list], batch);
      if (refused.length === 0) continue;
      hasConflict = true;
      // Another user of the target still has the email address. An author can be missing only if the
      // source has changed, which the final comparison detects.
      if (list === 'users') await load(targets.users, refused.map(withoutAddress));
    }
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
    if (all.users + all.posts === 0) {
      throw new Failure(
        'The source has no records, so copying it would empty the target: check --from.',
      );
    }
    compared = await compare();
    if (compared.other !== undefined && !overwrite) {
      throw new Failure(
        'The target has records that the source does not have, or has in an older version, such as ' +
          `${compared.other}: use --overwrite to remove or replace them, or choose another target.`,
      );
    }
  }
  await transfer.begin();
  if (compared === undefined || compared.differing !== undefined) {
    const conflicts = { users: await carryOver('users'), posts: await carryOver('posts') };
    if (compared?.other !== undefined) {
      // Posts first, because every store deletes a user without posts in one step.
      await removeOthers('posts');
      await removeOthers('users');
    }
    // By now, no other record of the target has the email addresses and unique values of the source's records.
    for (const list of collections) if (conflicts[list]) await carryOver(list);
    compared = await compare();
  }
  // Last, because a store ignores the deleted ids of records that it still has.
  for (const list of collections) await carryOverDeleted(list);
  if (compared.differing !== undefined) {
    throw new Failure(
      `The two sides differ in ${compared.differing}, because one of them was changed during the copy: ` +
        'run the same command again to copy the rest.',
    );
  }
  await transfer.end();
  return compared.counts;
}

const collections = ['users', 'posts'] as const;

/** How many deleted ids are read in one batch. */
const mostDeleted = 1000;

/** The records with the same id on both sides. One of them can be missing. */
interface Pair {
  readonly given: Versioned<Entity> | undefined;
  readonly stored: Versioned<Entity> | undefined;
}

/** Reads both sides in parallel, ordered by id. Records can be loaded meanwhile. */
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
 * True if the target has the record. Its version can be higher than in the source: a store continues from
 * the last version that it has given to the id, even if that record was deleted.
 */
function isSame({ given, stored }: Pair): boolean {
  if (given === undefined || stored === undefined || given.version > stored.version) return false;
  return given.json === stored.json || jsonEqual(given.record, stored.record);
}

/** True for a record of the target that the source doesn't have, or has in an older version. */
function isOther(pair: Pair): boolean {
  const { given, stored } = pair;
  if (given === undefined || stored === undefined) return given === undefined;
  const isNewer =
    stored.version > given.version || stored.record.updatedAt > given.record.updatedAt;
  return isNewer && !isSame(pair);
}

/** Loads records. @returns those that conflict with other records of the store */
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
