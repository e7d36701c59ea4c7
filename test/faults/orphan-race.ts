import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Intercept } from '../../src/adapters/mongodb/connection/call.ts';
import { collectionNames } from '../../src/adapters/mongodb/schema/collections.ts';
import { type MongodbStore, openStore } from '../../src/adapters/mongodb/store.ts';
import { isRostrumError, storeUnavailable } from '../../src/domain/errors.ts';
import { VersionedRecord } from '../../src/domain/record.ts';
import type { DeleteMode } from '../../src/ports/user-repository.ts';
import { later, post, times, user } from '../../src/testing/fixtures.ts';

/** What came of some rounds of the race. */
export interface Ledger {
  rounds: number;
  /** Rounds in which steps failed, before they were made or after. */
  broken: number;
  injected: number;
  /** How many of these were at each step: before the server was asked, and after it had responded. */
  readonly at: Record<string, { before: number; after: number }>;
  created: number;
  moved: number;
  deleted: number;
  refused: number;
  unavailable: number;
  /** Posts that name a user that does not exist, after their round. There may be none. */
  orphans: number;
  /** The same, of all rounds, when every store is closed. There may be none. */
  orphansAtEnd: number;
  /** Posts that were acknowledged, that no call deleted, and that are gone. There may be none. */
  lost: number;
}

export interface RaceOptions {
  readonly url: string;
  /** The same database, as the driver shows it. */
  readonly db: Db;
  readonly rounds: number;
  /** Whether a deleter does without removing the marks of posts that join the user. */
  readonly withoutFence?: boolean;
}

type Ends = 'created' | 'moved' | 'deleted' | 'refused' | 'unavailable';

const modes: readonly DeleteMode[] = ['refuse', 'delete', 'keep'];

/**
 * Creators, movers and deleters race over one user, on stores that know nothing of each other. In
 * every other round steps fail at random, as for a process that is killed there.
 */
export async function raceOrphans(options: RaceOptions): Promise<Ledger> {
  const { url, rounds } = options;
  const ledger = emptyLedger();
  const sabotage = new Sabotage(ledger, options.withoutFence ?? false);
  const [whole, broken] = [true, false].map((isWhole) =>
    times(3, () => openStore({ url }, { intercept: sabotage.around(isWhole) })),
  );
  const stores = [...(whole ?? []), ...(broken ?? [])];
  try {
    // Several rounds at a time, because a mark that is left behind stays until its lease ends.
    let begun = 0;
    const runner = async () => {
      while (begun < rounds) {
        const isBroken = begun++ % 2 === 1;
        const used = (isBroken ? broken : whole) ?? [];
        await playRound(
          { db: options.db, setUp: whole?.[0] as MongodbStore, stores: used },
          ledger,
        );
        if (isBroken) ledger.broken += 1;
      }
    };
    await Promise.all(times(8, runner));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  ledger.orphansAtEnd = await countOrphans(options.db);
  return ledger;
}

interface Round {
  readonly db: Db;
  /** A store whose steps do not fail. */
  readonly setUp: MongodbStore;
  readonly stores: readonly MongodbStore[];
}

async function playRound({ db, setUp, stores }: Round, ledger: Ledger): Promise<void> {
  const [author, ...posts] = [user(), ...times(4, () => post())] as const;
  await db.command({ ping: 1 });
  await setUp.transfer.users.load([new VersionedRecord(author, 1)]);
  await setUp.transfer.posts.load(posts.map((record) => new VersionedRecord(record, 1)));

  const pick = () => stores[Math.floor(Math.random() * stores.length)] as MongodbStore;
  const mayDelete = Math.random() < 0.5;
  const acknowledged = new Set(posts.map(({ id }) => id));
  const calls = [
    ...times(10, () => async (): Promise<Ends> => {
      const record = post({ authorId: author.id });
      await pick().posts.create(record);
      acknowledged.add(record.id);
      return 'created';
    }),
    ...posts.map(({ id }) => async (): Promise<Ends> => {
      await pick().posts.update(id, ({ record }) => ({ ...record, authorId: author.id }));
      return 'moved';
    }),
    ...times(3, (n) => async (): Promise<Ends> => {
      const mode = modes[n === 1 && !mayDelete ? 0 : n] as DeleteMode;
      return (await pick().users.delete(author.id, mode, later)) ? 'deleted' : 'refused';
    }),
  ];
  await Promise.all(
    calls.map(async (call, n) => {
      await sleep(Math.random() * (n < 14 ? 25 : 60)); // The last three are the deleters.
      ledger[await endOf(call)] += 1;
    }),
  );

  const isThere =
    (await db.collection(collectionNames.users).countDocuments(visible(author.id))) === 1;
  const naming = await db
    .collection(collectionNames.posts)
    .countDocuments({ 'record.authorId': author.id });
  if (!isThere) ledger.orphans += naming;
  if (!mayDelete) {
    const ids = { $in: [...acknowledged] } as never;
    const found = await db
      .collection(collectionNames.posts)
      .countDocuments({ _id: ids, ...isRecord });
    ledger.lost += acknowledged.size - found;
  }
  ledger.rounds += 1;
}

async function countOrphans(db: Db): Promise<number> {
  const users = await db
    .collection(collectionNames.users)
    .find(isRecord, { projection: { _id: 1 } })
    .toArray();
  return db.collection(collectionNames.posts).countDocuments({
    'record.authorId': { $type: 'string', $nin: users.map(({ _id }) => _id) },
  });
}

async function endOf(call: () => Promise<Ends>): Promise<Ends> {
  try {
    return await call();
  } catch (error) {
    if (isRostrumError(error, 'store-unavailable')) return 'unavailable';
    if (isRostrumError(error, 'user-has-posts') || isRostrumError(error, 'invalid-record')) {
      return 'refused';
    }
    throw error;
  }
}

const isRecord = { record: { $exists: true } };

function visible(id: string): object {
  return { _id: id, ...isRecord };
}

/** Delays every step, and lets some fail: before the server is asked, or after it has responded. */
class Sabotage {
  readonly #ledger: Ledger;
  readonly #withoutFence: boolean;

  constructor(ledger: Ledger, withoutFence: boolean) {
    this.#ledger = ledger;
    this.#withoutFence = withoutFence;
  }

  around(isWhole: boolean): Intercept {
    return async (step, run) => {
      await moment();
      if (!isWhole) this.#mayFail(step, 'before');
      // Nothing waits for the result of an eviction.
      const skip = this.#withoutFence && step === 'evict';
      const result = skip ? (undefined as Awaited<ReturnType<typeof run>>) : await run();
      if (!isWhole) this.#mayFail(step, 'after');
      await moment();
      return result;
    };
  }

  #mayFail(step: string, when: 'before' | 'after'): void {
    this.#ledger.at[step] ??= { before: 0, after: 0 };
    const counts = this.#ledger.at[step];
    // A step that is seldom made fails more often, until it has failed.
    if (Math.random() > (counts[when] < 2 ? 0.3 : 0.04)) return;
    this.#ledger.injected += 1;
    counts[when] += 1;
    throw storeUnavailable('unknown', new Error('Sabotage.'));
  }
}

/** Now and then a long one: what the fence is for happens while a process is slow. */
function moment(): Promise<void> {
  return sleep(Math.random() * (Math.random() < 0.15 ? 60 : 4));
}

function emptyLedger(): Ledger {
  const ends = { created: 0, moved: 0, deleted: 0, refused: 0, unavailable: 0 };
  return {
    rounds: 0,
    broken: 0,
    injected: 0,
    at: {},
    ...ends,
    orphans: 0,
    orphansAtEnd: 0,
    lost: 0,
  };
}
