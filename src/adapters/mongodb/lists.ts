import type { Db, Document } from 'mongodb';
import {
  type Condition,
  cutPage,
  type ListQuery,
  type Page,
  type Position,
  type QueryOrder,
} from '../../domain/lists/list.ts';
import { type Collection, VersionedRecord } from '../../domain/records/record.ts';
import type { Call } from './connection/call.ts';
import { readBatches } from './cursors.ts';
import {
  decodeRecord,
  fieldPath,
  nfcFields,
  nfcOf,
  pathOf,
  toBson,
  waitForIteration,
} from './documents.ts';
import { limits } from './limits.ts';

/** Reads a page, and its total, from one snapshot of the database. */
export async function readPage<R>(
  db: Db,
  collection: Collection,
  query: ListQuery,
  call: Call,
): Promise<Page<R>> {
  const { fields, limit, bytes } = query;
  const counted = query.total ? await count(db, collection, query.conditions, call) : undefined;
  const command = {
    ...pageCommand(collection, query),
    // An order without an index, such as an author's posts by title, can need more memory than MongoDB allows.
    allowDiskUse: true,
    readConcern: { level: 'snapshot', ...counted?.time },
  };
  const read = (bytes: Buffer) => decodeRecord(collection, bytes, query);
  const expected = { documents: limit + 1, bytes, isProjected: fields !== undefined };
  const batches = readBatches(db, call, collection, command, expected);
  const taken = await readUntilFull(batches, bytes, read);
  const { items, next } = cutPage(taken, query, ({ key, id }) => ({ key, id }));
  return {
    items: items.map(({ json, version }) => new VersionedRecord<R>(json, version)),
    ...(next && { next }),
    ...(fields && { isProjected: true }),
    ...(counted && { total: counted.total }),
  };
}

/** Returns the command that reads a page, and one more record. */
function pageCommand(collection: Collection, query: ListQuery): Document {
  const { conditions, fields, order, after } = query;
  const match = matching(conditions);
  const ranges = after && rangesAfter(after, order).map((range) => ({ $and: [match, range] }));
  const filter = ranges ? { $or: ranges } : match;
  const step = order.direction === 'asc' ? 1 : -1;
  const sort = { [pathOf(order)]: step, _id: step };
  const limit = query.limit + 1;
  const paths = fields && projection(collection, fields, order);
  // The ends of a range share a plan.
  const planned = new Set(conditions.map((one) => (one.op === 'has' ? one : one.field)));
  if (planned.size <= limits.maxConditionsOfFind) {
    return { find: collection, filter, sort, ...(paths && { projection: paths }), limit };
  }
  // The server first tries a plan for each condition, and keeps a page of documents from each: for 64 tags of large
  // posts, that would be gigabytes. Of these, it needs only the ids.
  const byId = { from: collection, localField: '_id', foreignField: '_id', as: 'found' };
  const ids = [{ $match: filter }, { $sort: sort }, { $limit: limit }, { $project: { _id: 1 } }];
  const documents = [{ $lookup: byId }, { $replaceRoot: { newRoot: { $first: '$found' } } }];
  const pipeline = [...ids, ...documents, ...(paths ? [{ $project: paths }] : [])];
  return { aggregate: collection, pipeline };
}

/** Returns the number of matches, and the time of the snapshot, for other reads of it. */
async function count(db: Db, collection: Collection, conditions: readonly Condition[], call: Call) {
  const pipeline = [{ $match: matching(conditions) }, { $count: 'n' }];
  // Without conditions, count in the smallest index: otherwise the server would read every document.
  const hint = conditions.length === 0 && { hint: '_id_' };
  const readConcern = { level: 'snapshot' };
  const command = { aggregate: collection, pipeline, cursor: {}, ...hint, readConcern };
  const { cursor } = await call.run(({ maxTimeMS, signal }) =>
    db.command({ ...command, maxTimeMS }, { signal }),
  );
  const total: number = cursor.firstBatch[0]?.n ?? 0;
  return { total, time: { atClusterTime: cursor.atClusterTime } };
}

/** Reads documents until the page is full, and one more. */
async function readUntilFull<T extends { readonly json: string }>(
  batches: AsyncIterable<readonly Buffer[]>,
  bytes: number,
  read: (document: Buffer) => T,
): Promise<T[]> {
  const taken: T[] = [];
  let size = 0;
  for await (const batch of batches) {
    for (const document of batch) {
      const wait = waitForIteration(document.length);
      if (wait) await wait;
      const record = read(document);
      taken.push(record);
      size += record.json.length; // At most its bytes.
      if (size > bytes && taken.length > 1) return taken;
    }
  }
  return taken;
}

/** Returns the fields to read for records with only these fields, in this order. */
function projection(
  collection: Collection,
  fields: readonly string[],
  order: QueryOrder,
): Document {
  const paths = [...fields.map((name) => fieldPath(collection, name)), pathOf(order), 'version'];
  const readsAll = paths.includes('custom');
  const needed = readsAll ? paths.filter((path) => !path.startsWith('custom.')) : paths;
  return Object.fromEntries(needed.map((path) => [path, 1]));
}

function matching(conditions: readonly Condition[]): Document {
  return conditions.length === 0 ? {} : { $and: conditions.map(predicate) };
}

const operators = { eq: '$eq', in: '$in', has: '$eq', from: '$gte', before: '$lt' } as const;

/** Compares the type, because "equal to null" is two index ranges: null, and a missing field. */
const isNull: Document = { $type: 'null' };

function predicate(condition: Condition): Document {
  const path = pathOf(condition);
  if (condition.op === 'isNull') return { [path]: isNull };
  const value =
    condition.op === 'in'
      ? condition.value.map((one) => toBson(path, one))
      : toBson(path, condition.value);
  const test = { [operators[condition.op]]: value };
  if (!nfcFields.includes(path)) return { [path]: test };
  const nfc = nfcOf(path);
  return { $or: [{ [nfc]: test }, { [nfc]: { $exists: false }, [path]: test }] };
}

/**
 * Returns up to three ranges of the sort index that together cover everything after a position: the rest of the documents
 * with the same key, those with a later key, and those without one. The server merges them in order, so a page costs the
 * same at any depth.
 */
function rangesAfter({ key: sortKey, id }: Position, order: QueryOrder): Document[] {
  const path = pathOf(order);
  const key = toBson(path, sortKey);
  const isAscending = order.direction === 'asc';
  const op = isAscending ? '$gt' : '$lt';
  if (path === '_id') return [{ _id: { [op]: id } }];
  // A declared field without a value can be null or missing.
  const noValue = order.declaredType === undefined ? isNull : null;
  const same = { [path]: key ?? noValue, _id: { [op]: id } };
  if (key === null) return isAscending ? [same, { [path]: { $ne: null } }] : [same];
  const others = [same, { [path]: { [op]: key } }];
  // Null sorts before all values, but comparisons with a value don't match it.
  return isAscending ? others : [...others, { [path]: noValue }];
}
