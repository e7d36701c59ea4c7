import { setImmediate as nextTick } from 'node:timers/promises';
import type { Entity, Id, Versioned } from '../../domain/records/record.ts';
import type { Store } from '../../ports/store.ts';
import type { RecordTransfer, Transfer } from '../../ports/transfer.ts';
import { Failure } from '../failure.ts';
import type { Counts } from '../output.ts';

/** Records of one collection, ordered by id. */
export type Records = AsyncIterable<Versioned<Entity>>;

/** Limits of a batch. 1 MiB of JSON can become 22 MiB of objects (`[{},{},…`). */
const batchLimits = { limit: 500, bytes: 1024 * 1024 };

/** @throws Failure for a store without `transfer` */
export function transferOf({ transfer }: Store): Transfer {
  if (transfer !== undefined) return transfer;
  throw new Failure('This store does not support copy, export and import.');
}

/** Reads all records of a store, any number of times. The signal stops reading between two batches. */
export function storeSource(store: Store, signal: AbortSignal) {
  const transfer = transferOf(store);
  const order = { field: 'createdAt', direction: 'desc' } as const;
  const one = { conditions: [], order, limit: 1, bytes: 1, total: true };
  return {
    count: async (): Promise<Counts> => ({
      users: (await store.users.list(one)).total ?? 0,
      posts: (await store.posts.list(one)).total ?? 0,
    }),
    users: (): Records => scan(transfer.users, signal),
    posts: (): Records => scan(transfer.posts, signal),
  };
}

async function* scan(transfer: RecordTransfer<Entity>, signal: AbortSignal) {
  for (let after: Id | undefined; ; ) {
    signal.throwIfAborted();
    const batch = await transfer.scan({ ...batchLimits, after });
    if (batch.length === 0) return;
    yield* batch;
    after = batch.at(-1)?.record.id;
  }
}

/** Collects items into batches. */
export async function* batches<T>(
  all: AsyncIterable<T>,
  bytesOf: (one: T) => number,
): AsyncGenerator<T[]> {
  let [batch, bytes]: [T[], number] = [[], 0];
  for await (const one of all) {
    batch.push(one);
    bytes += bytesOf(one);
    if (batch.length < batchLimits.limit && bytes < batchLimits.bytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
    await nextTick(); // Lets the process handle signals, even if nothing else waits for I/O.
  }
  if (batch.length > 0) yield batch;
}
