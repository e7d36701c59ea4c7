import type { Collection } from 'mongodb';
import type { Connection } from './connection/connection.ts';
import { limits } from './connection/limits.ts';
import type { StoredRecord } from './schema/documents.ts';

/**
 * Drops long expired receipts, once an hour and in small steps. Several processes may sweep at once.
 *
 * @returns what stops it
 */
export function startSweep(connection: Connection): () => void {
  const timer = setInterval(() => {
    // The next sweep makes up for one that fails.
    sweep(connection).catch(() => {});
  }, limits.sweepMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** @returns how many documents had such receipts */
export async function sweep(connection: Connection): Promise<number> {
  const { users, posts } = connection;
  let swept = 0;
  for (const collection of [users, posts] as unknown as Collection<StoredRecord>[]) {
    for (;;) {
      const some = await sweepSome(connection, collection);
      if (some === 0) break;
      swept += some;
    }
  }
  return swept;
}

async function sweepSome(
  connection: Connection,
  collection: Collection<StoredRecord>,
): Promise<number> {
  const outlived = { expires: { $lt: new Date() } };
  return connection.call(async (call) => {
    const found = await call.read((bounds) =>
      collection
        .find({ 'claims.expires': outlived.expires }, { projection: { _id: 1 }, ...bounds })
        .hint('claims_expires')
        .limit(1000)
        .toArray(),
    );
    if (found.length === 0) return 0;
    const ids = found.map(({ _id }) => _id);
    await call.prepare('sweep', (bounds) =>
      collection.updateMany({ _id: { $in: ids } }, { $pull: { claims: outlived } }, bounds),
    );
    return found.length;
  });
}
