import type { Collection } from 'mongodb';
import type { Call } from './connection/call.ts';
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
  let swept = 0;
  for (const collection of [connection.users, connection.posts]) {
    const records = collection as unknown as Collection<StoredRecord>;
    for (let some = 1; some > 0; swept += some) {
      some = await connection.call((call) => sweepSome(call, records));
    }
  }
  return swept;
}

async function sweepSome(call: Call, collection: Collection<StoredRecord>): Promise<number> {
  const outlived = { expires: { $lt: new Date() } };
  const options = { projection: { _id: 1 }, hint: 'claims_expires', limit: 1000 } as const;
  const found = await call.read((bounds) =>
    collection.find({ 'claims.expires': outlived.expires }, { ...options, ...bounds }).toArray(),
  );
  const ids = found.map(({ _id }) => _id);
  if (ids.length === 0) return 0;
  await call.prepare('sweep', (bounds) =>
    collection.updateMany({ _id: { $in: ids } }, { $pull: { claims: outlived } }, bounds),
  );
  return ids.length;
}
