import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { copyJson } from '../../domain/json.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Call } from './call.ts';
import type { StoredRecord } from './documents.ts';

/** How many records are stored at once. */
const most = 500;

/**
 * Cuts records into parts that can be stored at once: none has two with the same id, so that of
 * these the later one takes the earlier one's place.
 */
export function partsOf<R extends Entity>(records: readonly Versioned<R>[]): Versioned<R>[][] {
  const parts: Versioned<R>[][] = [];
  let ids = new Set<Id>();
  for (const stored of records) {
    const { id } = stored.record;
    if (parts.length === 0 || ids.has(id) || ids.size === most) {
      parts.push([]);
      ids = new Set();
    }
    ids.add(id);
    parts.at(-1)?.push(copyJson(stored));
  }
  return parts;
}

/** The documents that are there under some ids, in whatever state. */
export async function documentsOf<D extends StoredRecord>(
  call: Call,
  collection: Collection<D>,
  ids: readonly Id[],
): Promise<Map<Id, D>> {
  const found = await call.read((bounds) =>
    collection
      .find<D>({ _id: { $in: ids } } as object, { readConcern: 'local', ...bounds })
      .toArray(),
  );
  return new Map(found.map((stored) => [stored._id, stored]));
}

/**
 * Makes some writes, in their order. False when not all of them found what they were made for:
 * then others changed it meanwhile, and all is to be decided anew.
 */
export async function writeAll<D extends StoredRecord>(
  call: Call,
  collection: Collection<D>,
  step: string,
  writes: readonly AnyBulkWriteOperation<D>[],
  ordered: boolean,
): Promise<boolean> {
  if (writes.length === 0) return true;
  const { insertedCount, matchedCount } = await call.commit(step, (bounds) =>
    collection.bulkWrite(writes, { ordered, ...bounds }),
  );
  return insertedCount + matchedCount === writes.length;
}
