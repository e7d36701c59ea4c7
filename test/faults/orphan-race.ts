import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { type MongodbStore, openMongodbStore } from '../../src/adapters/mongodb/index.ts';
import { Transaction } from '../../src/adapters/mongodb/transactions.ts';
import { isRostrumError } from '../../src/domain/errors.ts';
import { type DeleteMode, deleteModes } from '../../src/ports/user-repository.ts';
import { later, post, times, user } from '../../src/testing/fixtures.ts';
import { untilServed } from '../support/until.ts';

/** The results of the race. */
export interface Ledger {
  created: number;
  moved: number;
  deleted: number;
  refused: number;
  unavailable: number;
  /** Posts whose author does not exist. Must be 0. */
  orphans: number;
  /** Acknowledged posts that disappeared without being deleted. Must be 0. */
  lost: number;
}

export interface RaceOptions {
  readonly url: string;
  /** The driver's handle of the same database. */
  readonly db: Db;
  readonly rounds: number;
}

/** Lets creations, author changes and deletions race over one user, on three independent stores. */
export async function raceOrphans({ url, db, rounds }: RaceOptions): Promise<Ledger> {
  const ends = { created: 0, moved: 0, deleted: 0, refused: 0, unavailable: 0 };
  const ledger: Ledger = { ...ends, orphans: 0, lost: 0 };
  const stores = times(3, () => openMongodbStore({ url }));
  await untilServed(() => Promise.all(stores.map((store) => store.ready())), 30_000);
  try {
    for (let n = 0; n < rounds; n += 4) {
      await Promise.all(times(Math.min(4, rounds - n), () => playRound(db, stores, ledger)));
    }
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  ledger.orphans = await countOrphans(db);
  return ledger;
}

async function playRound(db: Db, stores: readonly MongodbStore[], ledger: Ledger): Promise<void> {
  const [author, ...posts] = [user(), ...times(4, () => post())] as const;
  const pick = () => stores[Math.floor(Math.random() * stores.length)] as MongodbStore;
  await pick().users.create(author);
  await Promise.all(posts.map((record) => pick().posts.create(record)));
  const mayDelete = Math.random() < 0.5;
  const acknowledged = new Set(posts.map(({ id }) => id));
  const calls = [
    ...times(20, () => async () => {
      const record = post({ authorId: author.id });
      await pick().posts.create(record);
      acknowledged.add(record.id);
      return 'created' as const;
    }),
    ...posts.map(({ id }) => async () => {
      await pick().posts.update(id, ({ record }) => ({ ...record, authorId: author.id }));
      return 'moved' as const;
    }),
    ...times(3, (n) => async () => {
      const mode = deleteModes[n === 1 && !mayDelete ? 0 : n] as DeleteMode;
      return (await pick().users.delete(author.id, mode, later)) ? 'deleted' : 'refused';
    }),
  ];
  await Promise.all(
    calls.map(async (call) => {
      await sleep(Math.random() * 40);
      ledger[await endOf(call)] += 1;
    }),
  );
  if (mayDelete) return;
  const found = await db
    .collection<{ _id: string }>('posts')
    .countDocuments({ _id: { $in: [...acknowledged] } });
  ledger.lost += acknowledged.size - found;
}

type End = Exclude<keyof Ledger, 'orphans' | 'lost'>;

async function endOf(call: () => Promise<End>): Promise<End> {
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

/** Returns how many posts have an author that does not exist. */
export async function countOrphans(db: Db): Promise<number> {
  const authors: string[] = await db.collection('posts').distinct('authorId');
  const users = await db
    .collection<{ _id: string }>('users')
    .find({}, { projection: { _id: 1 } })
    .toArray();
  const known = new Set(users.map(({ _id }) => _id));
  const unknown = authors.filter((id) => id !== null && !known.has(id));
  return db.collection('posts').countDocuments({ authorId: { $in: unknown } });
}

/**
 * Injects a fault: updates of authors always set the same value, which the server does not write. Returns a
 * function that removes the fault.
 */
export function plantUnchangedTouch(): () => void {
  const { update } = Transaction.prototype;
  Transaction.prototype.update = function planted(collection, updates) {
    const isTouch = updates[0]?.u?.$set?.authorLock !== undefined;
    const unchanged = updates.map((one) => ({ ...one, u: { $set: { authorLock: 0 } } }));
    return update.call(this, collection, isTouch ? unchanged : updates);
  };
  return () => {
    Transaction.prototype.update = update;
  };
}
