import { systemClock } from '../../adapters/system/index.ts';
import { isRostrumError } from '../../domain/errors.ts';
import { jsonEqual } from '../../domain/json.ts';
import { type Entity, type Id, type Versioned, VersionedRecord } from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import type { User } from '../../domain/user.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer, Transfer } from '../../ports/transfer.ts';
import { type Counts, counted } from '../count.ts';
import { Failure } from '../failure.ts';
import type { Progress } from '../progress.ts';
import type { LongRun } from '../run-long.ts';
import { batchLimits, type Records, type Source, storeSource, transferOf } from './source.ts';

export interface CopyOptions extends LongRun {
  /** Whether the target's other records may be removed or replaced. */
  readonly overwrite: boolean;
}

/** What a target holds that a copy would remove or take back. */
interface OtherRecords {
  /** Records that the source does not have. */
  readonly foreign: number;
  /** Records that changed since the source had them so. */
  readonly newer: number;
  /** One of them, for people. */
  readonly example: string;
}

/**
 * Makes a store hold what another one holds: records as they are, with ids, versions and times.
 *
 * Both sides are read by id, and only what differs is loaded. Then both are read again and compared,
 * record by record. So an interrupted copy is simply run again. A target that holds records is looked
 * at first, so that a refused one is left as it was.
 *
 * @throws Failure when the target has other records that may not be overwritten, when the source is
 * empty and the target is not, or when they differ in the end
 */
export async function copyRecords(
  from: Store,
  target: Store,
  { overwrite, progress, signal }: CopyOptions,
): Promise<Counts> {
  const transfer = transferOf(target);
  const [source, there] = [storeSource(from, signal), storeSource(target, signal)];
  const { users, posts } = await source.count();
  if (!(await isEmpty(transfer))) {
    if (users + posts === 0) throw nothingToCopy();
    const { differing, others, ...counts } = await compare(source, there, progress);
    if (differing.count === 0) return counts;
    if (others.example !== '' && !overwrite) throw otherRecords(others);
  }
  const carryUsers = () => {
    progress.begin('users', users);
    return carryOver(pairs(source.users(), there.users()), progress, {
      load: (batch) => loadUsers(transfer.users, batch),
      remove: async (id) => {
        if (overwrite) await target.users.delete(id, 'delete', systemClock.now());
      },
    });
  };
  // An address that moved between users is free when all users of the target were seen once.
  if (await carryUsers()) await carryUsers();
  progress.begin('posts', posts);
  await carryOver(pairs(source.posts(), there.posts()), progress, {
    load: async (batch) => (await loadAll(transfer.posts, batch)).length > 0,
    remove: async (id) => {
      if (overwrite) await target.posts.delete(id);
    },
  });
  const { differing, others, ...counts } = await compare(source, there, progress);
  if (differing.count === 0) return counts;
  throw new Failure(
    `The two sides differ in ${counted(differing.count, 'record')} (${differing.example}): one of them ` +
      'was written to meanwhile; run the same command again, and it carries over the rest.',
  );
}

async function isEmpty({ users, posts }: Transfer): Promise<boolean> {
  const one = { limit: 1, bytes: 1 };
  return (await users.scan(one)).length === 0 && (await posts.scan(one)).length === 0;
}

/** The records of both sides with the same id; one of them may be missing. */
interface Pair<R extends Entity> {
  readonly given: Versioned<R> | undefined;
  readonly stored: Versioned<R> | undefined;
}

/** Reads both sides once, by id. Loading a given record does not disturb the reading. */
async function* pairs<R extends Entity>(
  given: Records<R>,
  stored: Records<R>,
): AsyncGenerator<Pair<R>> {
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

function isSame<R extends Entity>(given: Versioned<R>, stored: Versioned<R> | undefined): boolean {
  return (
    stored !== undefined &&
    given.version === stored.version &&
    (given.json === stored.json || jsonEqual(given.record, stored.record))
  );
}

/** True for a record of the target that changed since the source had it so. */
function isNewer<R extends Entity>({ given, stored }: Pair<R>): boolean {
  if (given === undefined || stored === undefined) return false;
  if (stored.version !== given.version) return stored.version > given.version;
  return stored.record.updatedAt > given.record.updatedAt;
}

interface Comparison extends Counts {
  /** What is not the same on both sides. */
  readonly differing: { readonly count: number; readonly example: string };
  /** What a copy would remove or take back. */
  readonly others: OtherRecords;
}

/** Compares the sides and changes nothing. */
async function compare(source: Source, there: Source, progress: Progress): Promise<Comparison> {
  const all = await source.count();
  const counts = { users: 0, posts: 0 };
  const others = { foreign: 0, newer: 0, example: '' };
  const differing = { count: 0, example: '' };
  const look = async <R extends Entity>(list: keyof Counts, both: AsyncIterable<Pair<R>>) => {
    for await (const pair of both) {
      const { given, stored } = pair;
      const name = `the ${list.slice(0, -1)} ${(given ?? stored)?.record.id}`;
      if (given === undefined) others.foreign += 1;
      else if (isNewer(pair)) others.newer += 1;
      if (others.foreign + others.newer > 0) others.example ||= name;
      if (given === undefined || !isSame(given, stored)) {
        differing.count += 1;
        differing.example ||= name;
      }
      if (given === undefined) continue;
      counts[list] += 1;
      progress.advance(1);
    }
  };
  progress.begin('comparing', all.users + all.posts);
  await look('users', pairs(source.users(), there.users()));
  await look('posts', pairs(source.posts(), there.posts()));
  progress.end();
  return { ...counts, differing, others };
}

interface Target<R extends Entity> {
  /** @returns whether a record was in conflict with what is stored */
  load(batch: readonly Versioned<R>[]): Promise<boolean>;
  /** Removes a record that only the target has, if it may. */
  remove(id: Id): Promise<void>;
}

/** Loads what differs, and removes what only the target has. @returns as `load` */
async function carryOver<R extends Entity>(
  both: AsyncIterable<Pair<R>>,
  progress: Progress,
  { load, remove }: Target<R>,
): Promise<boolean> {
  let conflict = false;
  let [batch, bytes]: [Versioned<R>[], number] = [[], 0];
  const flush = async () => {
    conflict = (await load(batch)) || conflict;
    [batch, bytes] = [[], 0];
  };
  for await (const { given, stored } of both) {
    if (given === undefined) {
      if (stored !== undefined) await remove(stored.record.id);
      continue;
    }
    progress.advance(1);
    if (isSame(given, stored)) continue;
    batch.push(given);
    bytes += given.json.length;
    if (batch.length >= batchLimits.limit || bytes >= batchLimits.bytes) await flush();
  }
  await flush();
  progress.end();
  return conflict;
}

/**
 * Loads all records that are not in conflict with what is stored, and returns those that are. A
 * source that changed while it was read is seen when the sides are verified.
 */
async function loadAll<R>(
  transfer: RecordTransfer<R>,
  batch: readonly Versioned<R>[],
): Promise<Versioned<R>[]> {
  if (batch.length === 0) return [];
  try {
    await transfer.load(batch);
    return [];
  } catch (error) {
    const isConflict =
      isRostrumError(error, 'email-taken') || isRostrumError(error, 'invalid-record');
    if (!isConflict) throw error;
    if (batch.length === 1) return [...batch];
  }
  const refused: Versioned<R>[] = [];
  for (const one of batch) refused.push(...(await loadAll(transfer, [one])));
  return refused;
}

/** Loads users; without their address, where another user of the target still has it. */
async function loadUsers(
  transfer: RecordTransfer<User>,
  batch: readonly Versioned<User>[],
): Promise<boolean> {
  const refused = await loadAll(transfer, batch);
  if (refused.length === 0) return false;
  await transfer.load(
    refused.map(({ record, version }) => new VersionedRecord({ ...record, email: null }, version)),
  );
  return true;
}

function otherRecords({ foreign, newer, example }: OtherRecords): Failure {
  const others = [
    ...(foreign > 0 ? [`${counted(foreign, 'record')} that the source does not have`] : []),
    ...(newer > 0 ? [`${counted(newer, 'record')} that changed since the source had them so`] : []),
  ];
  return new Failure(
    `The target holds ${others.join(' and ')} (${example}): choose another target, or use ` +
      '--overwrite to replace them by what the source has.',
  );
}

function nothingToCopy(): Failure {
  return new Failure(
    'The source holds no record, and the target would be emptied: check that the source is the right one.',
  );
}
