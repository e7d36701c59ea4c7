import type { Db, Document } from 'mongodb';
import {
  type Condition,
  cutPage,
  type ListQuery,
  type Page,
  type Position,
  type QueryOrder,
} from '../../domain/lists/list.ts';
import {
  type Collection,
  type Entity,
  type Id,
  pickFields,
  VersionedRecord,
} from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';
import type { Call } from './call.ts';
import {
  allParts,
  oneBatch,
  pathOf,
  type StoredRecord,
  smallParts,
  versionedOf,
  withoutUtf8Check,
} from './documents.ts';
import { limits } from './limits.ts';
import { Semaphore } from './semaphore.ts';

/** Limits the bytes that all lists of this process read at a time. */
const byteBudget = new Semaphore(limits.listBytes);

/** A listed record. A large record's text is read later. */
interface Listed {
  readonly position: Position;
  readonly version: number;
  /** A lower bound of what is read of the record, in bytes: its JSON, or the projected JSON and the sort key. */
  readonly bytes: number;
  readonly json?: string;
}

type Fields = ListQuery['fields'];

/** The largest size of an author's id, in bytes: 255 characters of 4. */
const maxAuthorBytes = 1020;

/** Reads a page from one database snapshot, however many commands that takes. */
export async function readPage<R>(
  db: Db,
  collection: Collection,
  query: ListQuery,
  call: Call,
): Promise<Page<R>> {
  const { fields, total, conditions } = query;
  const snapshot = new Snapshot(db, collection, call);
  const found = await snapshot.findSmall(query);
  const fitting = fittingOf(found, query);
  const records = await snapshot.withLargeTexts(fitting, fields);
  const page = cutPage(records, query, ({ position }) => position);
  const next = page.next ?? (found.length > fitting.length ? fitting.at(-1)?.position : undefined);
  return {
    items: page.items.map(({ json, version }) => new VersionedRecord<R>(json, version)),
    ...(next && { next }),
    ...(fields && { isProjected: true }),
    ...(total && { total: await snapshot.count(matching(conditions)) }),
  };
}

class Snapshot {
  readonly #db: Db;
  readonly #collection: Collection;
  readonly #call: Call;
  /** The time of the first command's snapshot, which the other commands read too. */
  #atClusterTime: unknown;

  constructor(db: Db, collection: Collection, call: Call) {
    this.#db = db;
    this.#collection = collection;
    this.#call = call;
  }

  /** Finds a page's records and one more, with the text of the small ones. */
  async findSmall({ after, ...query }: ListQuery): Promise<Listed[]> {
    const { order, limit, bytes, fields } = query;
    const path = pathOf(order);
    const projection = { ...smallParts, [path]: 1 };
    const found: Listed[] = [];
    let position = after;
    for (let size = 0; ; ) {
      const batch = found.length === 0 ? limits.firstListRecords : limits.listRecords;
      const maxRecords = Math.min(limit + 1 - found.length, batch);
      const filter = filterAfter(query, position);
      // An order without an index, such as an author's posts by title, is sorted on disk.
      const options = { projection, sort: sorting(order), allowDiskUse: true };
      const records = await byteBudget.use(maxRecords * limits.smallRecord, () =>
        this.#find(filter, maxRecords, options),
      );
      for (const record of records) {
        const listed = listedOf(record, path, fields);
        found.push(listed);
        size += listed.bytes;
      }
      if (records.length < maxRecords || found.length > limit || size > bytes) return found;
      position = found.at(-1)?.position;
    }
  }

  /** Returns records with their text. Reads that of the large ones. */
  async withLargeTexts(listed: readonly Listed[], fields: Fields) {
    const large = listed.filter(({ json }) => json === undefined);
    const texts = new Map<Id, string>();
    if (large.length > 0) {
      const bytes = large.reduce((sum, one) => sum + one.bytes, 0);
      const filter = { _id: { $in: large.map(({ position }) => position.id) } };
      const options = { projection: allParts };
      const records = await byteBudget.use(bytes, () => this.#find(filter, large.length, options));
      for (const record of records) texts.set(record._id, projectedText(record, fields));
    }
    return listed.map((one) => ({ ...one, json: one.json ?? texts.get(one.position.id) ?? '' }));
  }

  async count(match: Document): Promise<number> {
    // Without conditions, count in the smallest index: otherwise the server would read every document.
    const hint = Object.keys(match).length === 0 && { hint: '_id_' };
    const pipeline = [{ $match: match }, { $count: 'n' }];
    const command = { aggregate: this.#collection, pipeline, cursor: {}, ...hint };
    const [counted] = await this.#run(command);
    return counted?.n ?? 0;
  }

  #find(filter: Document, limit: number, options: Document): Promise<StoredRecord[]> {
    const found = this.#run({ find: this.#collection, filter, ...options, ...oneBatch(limit) });
    return found as Promise<StoredRecord[]>;
  }

  async #run(command: Document): Promise<Document[]> {
    const time = this.#atClusterTime !== undefined && { atClusterTime: this.#atClusterTime };
    const readConcern = { level: 'snapshot', ...time };
    const { cursor } = await this.#call.run(({ maxTimeMS, signal }) =>
      this.#db.command({ ...command, readConcern, maxTimeMS }, { ...withoutUtf8Check, signal }),
    );
    this.#atClusterTime ??= cursor.atClusterTime;
    return cursor.firstBatch;
  }
}

function listedOf(record: StoredRecord, path: string, fields: Fields): Listed {
  const { _id: id, version, json, restBytes, restNames, override } = record;
  const key = path.split('.').reduce<unknown>(memberOf, record);
  const position = { key: key ?? null, id } as Position;
  const needsRest = !fields || !restNames || fields.some((name) => restNames.includes(name));
  if (restBytes !== undefined && needsRest) {
    // Joining the parts drops up to two brackets. An override can drop an author's id.
    const dropped = 2 + (override === undefined ? 0 : maxAuthorBytes);
    return { position, version, bytes: json.length + restBytes - dropped };
  }
  const text = projectedText(record, fields);
  // Without long sort keys, a reply that the server cuts at 16 MiB would seem to be the end of the list.
  const keyBytes = fields && typeof key === 'string' ? utf8Bytes(key) : 0;
  return { position, version, bytes: text.length + keyBytes, json: text };
}

function memberOf(value: unknown, name: string): unknown {
  return value instanceof Object && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function projectedText(record: StoredRecord, fields: Fields): string {
  const versioned = versionedOf<Entity>(record);
  return fields ? JSON.stringify(pickFields(versioned.record, fields)) : versioned.json;
}

/** Drops records that can't fit on the page, so that their text isn't read. */
function fittingOf(found: readonly Listed[], { limit, bytes }: ListQuery): readonly Listed[] {
  let size = 0;
  const end = found.findIndex((listed, n) => {
    size += listed.bytes;
    return n === limit || (n > 0 && size > bytes);
  });
  return end < 0 ? found : found.slice(0, end);
}

/** Returns the filter for documents that meet all conditions. */
function matching(conditions: readonly Condition[]): Document {
  const all = conditions.map((condition) => ({ [pathOf(condition)]: predicate(condition) }));
  return all.length === 0 ? {} : { $and: all };
}

const operators = { eq: '$eq', in: '$in', has: '$eq', from: '$gte', before: '$lt' } as const;

/** Compares the type, because "equal to null" is two index ranges: null, and a missing field. */
const isNull: Document = { $type: 'null' };

function predicate(condition: Condition): Document {
  return condition.op === 'isNull' ? isNull : { [operators[condition.op]]: condition.value };
}

function sorting({ direction, ...field }: QueryOrder): Document {
  const step = direction === 'asc' ? 1 : -1;
  return { [pathOf(field)]: step, _id: step };
}

/**
 * Returns the filter for the documents after a position. It has up to three ranges of the sort index: the rest
 * of the documents with the same key, those with a later key, and those without one. The server merges the
 * ranges in order, so a page costs the same at any depth.
 */
function filterAfter(
  { conditions, order }: Pick<ListQuery, 'conditions' | 'order'>,
  after: Position | undefined,
): Document {
  const match = matching(conditions);
  if (after === undefined) return match;
  const ranges = rangesAfter(after, order);
  return { $or: ranges.map((range) => ({ $and: [match, range] })) };
}

function rangesAfter({ key, id }: Position, order: QueryOrder): Document[] {
  const path = pathOf(order);
  const isAscending = order.direction === 'asc';
  const op = isAscending ? '$gt' : '$lt';
  if (path === '_id') return [{ _id: { [op]: id } }];
  // Without a value, a search field is null, and a custom field is missing.
  const noValue = order.declaredType === undefined ? isNull : { $exists: false };
  const same = { [path]: key ?? noValue, _id: { [op]: id } };
  const smallest = order.declaredType === 'number' ? Number.NEGATIVE_INFINITY : '';
  if (key === null) return isAscending ? [same, { [path]: { $gte: smallest } }] : [same];
  const others = [same, { [path]: { [op]: key } }];
  // Null sorts before all values, but comparisons with a value don't match it.
  return isAscending ? others : [...others, { [path]: noValue }];
}
