import type { Document } from 'mongodb';
import { cutPage, type ListQuery, type Page, type Position } from '../../domain/list.ts';
import {
  type Collection,
  type Entity,
  type Id,
  projected,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import type { ScanRequest } from '../../ports/transfer.ts';
import type { Bounds, Call } from './call.ts';
import type { Connection } from './connection.ts';
import { allParts, pathOf, type StoredRecord, smallParts, versionedOf } from './documents.ts';
import { limits } from './limits.ts';
import { behind, matching, sorting } from './queries.ts';
import { Semaphore } from './semaphore.ts';

/** Bytes that lists read at a time, in the whole process. */
const memory = new Semaphore(limits.listBytes);

/** A record of a list; one whose large part is not read yet has no text. */
interface Listed {
  readonly position: Position;
  readonly version: number;
  /** Of the JSON in UTF-8, at least. */
  readonly bytes: number;
  readonly json: string | undefined;
}

type Whole = Listed & { readonly json: string };

/** Reads pages of one collection: each from one snapshot of the database, however many commands it takes. */
export class Lists {
  readonly #connection: Connection;
  readonly #collection: Collection;

  constructor(connection: Connection, collection: Collection) {
    this.#connection = connection;
    this.#collection = collection;
  }

  list<R>(call: Call, query: ListQuery): Promise<Page<R>> {
    return call.read(async (bounds) => {
      const snapshot = new Snapshot(this.#connection, this.#collection, bounds);
      const found = await snapshot.findSmall(query);
      const fitting = fittingOf(found, query);
      const page = cutPage(
        await snapshot.complete(fitting, query.fields),
        query,
        ({ position }) => position,
      );
      const next =
        page.next ?? (found.length > fitting.length ? fitting.at(-1)?.position : undefined);
      return {
        items: page.items.map(({ json, version }) => new VersionedRecord<R>(json, version)),
        ...(next && { next }),
        ...(query.fields && { isProjected: true }),
        ...(query.total && { total: await snapshot.count(matching(query.conditions)) }),
      };
    });
  }

  /** Returns the first records behind an id, by id. */
  async scan<R>(call: Call, { after, ...cut }: ScanRequest): Promise<readonly Versioned<R>[]> {
    const order = { field: 'id', direction: 'asc' } as const;
    const position = after === undefined ? undefined : { key: after, id: after };
    return (await this.list<R>(call, { ...cut, conditions: [], order, after: position })).items;
  }
}

/** One state of the database, for as many commands as a list takes. */
class Snapshot {
  readonly #connection: Connection;
  readonly #collection: Collection;
  readonly #bounds: Bounds;
  /** The time of the first command's snapshot. */
  #atClusterTime: unknown;

  constructor(connection: Connection, collection: Collection, bounds: Bounds) {
    this.#connection = connection;
    this.#collection = collection;
    this.#bounds = bounds;
  }

  /** Finds the records of a page and one more, with the text of those that are small. */
  async findSmall(query: ListQuery): Promise<Listed[]> {
    const { conditions, order, limit, bytes, fields } = query;
    const path = pathOf(order);
    const found: Listed[] = [];
    let { after } = query;
    for (let size = 0; ; ) {
      const most = Math.min(limit + 1 - found.length, limits.listRecords);
      const records = await memory.use(most * limits.smallRecord, () =>
        this.#find(behind({ conditions, order }, after), most, {
          projection: { ...smallParts, [path]: 1 },
          sort: sorting(order),
          // Only where the records of one author, say, are sorted by another field.
          allowDiskUse: true,
        }),
      );
      for (const record of records) {
        const listed = listedOf(record, path, fields);
        found.push(listed);
        size += listed.bytes;
      }
      if (records.length < most || found.length > limit || size > bytes) return found;
      after = found.at(-1)?.position;
    }
  }

  /** Reads what is missing of large records. */
  async complete(listed: readonly Listed[], fields: ListQuery['fields']): Promise<Whole[]> {
    const large = listed.filter(({ json }) => json === undefined);
    const texts = new Map<Id, string>();
    if (large.length > 0) {
      const bytes = large.reduce((sum, one) => sum + one.bytes, 0);
      const filter = { _id: { $in: large.map(({ position }) => position.id) } };
      const records = await memory.use(bytes, () =>
        this.#find(filter, large.length, { projection: allParts }),
      );
      for (const record of records) texts.set(record._id, textOf(record, fields));
    }
    return listed.map((one) => ({ ...one, json: one.json ?? texts.get(one.position.id) ?? '' }));
  }

  async count(match: Document): Promise<number> {
    // Without conditions, by the smallest index: the server would read every document.
    const hint = Object.keys(match).length === 0 && { hint: '_id_' };
    const pipeline = [{ $match: match }, { $count: 'n' }];
    const [counted] = await this.#run({
      aggregate: this.#collection,
      pipeline,
      cursor: {},
      ...hint,
    });
    return counted?.n ?? 0;
  }

  #find(filter: Document, limit: number, parts: Document): Promise<StoredRecord[]> {
    const one = { limit, batchSize: limit, singleBatch: true };
    return this.#run({ find: this.#collection, filter, ...parts, ...one }) as Promise<
      StoredRecord[]
    >;
  }

  async #run(command: Document): Promise<Document[]> {
    const { maxTimeMS, signal } = this.#bounds;
    const time = this.#atClusterTime !== undefined && { atClusterTime: this.#atClusterTime };
    const readConcern = { level: 'snapshot', ...time };
    const { cursor } = await this.#connection.db.command(
      { ...command, readConcern, maxTimeMS },
      { ...(signal && { signal }) },
    );
    this.#atClusterTime ??= cursor.atClusterTime;
    return cursor.firstBatch;
  }
}

function listedOf(record: StoredRecord, path: string, fields: ListQuery['fields']): Listed {
  const { _id: id, version, json, restBytes, restNames } = record;
  const key = path === '_id' ? id : (path.split('.').reduce(memberOf, record) ?? null);
  const position = { key, id } as Position;
  const isLarge =
    restBytes !== undefined &&
    (!fields || !restNames || fields.some((name) => restNames.includes(name)));
  if (isLarge) return { position, version, bytes: json.length + restBytes, json: undefined };
  const text = textOf(record, fields);
  return { position, version, bytes: text.length, json: text };
}

function memberOf(value: unknown, name: string): unknown {
  return value instanceof Object && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function textOf(record: StoredRecord, fields: ListQuery['fields']): string {
  const versioned = versionedOf<Entity>(record);
  return fields ? JSON.stringify(projected(versioned.record, fields)) : versioned.json;
}

/** Leaves out records that are surely beyond the end of the page, so that they are not read. */
function fittingOf(found: readonly Listed[], { limit, bytes }: ListQuery): readonly Listed[] {
  let size = 0;
  const end = found.findIndex((listed, n) => {
    size += listed.bytes;
    return n === limit || (n > 0 && size > bytes);
  });
  return end < 0 ? found : found.slice(0, end);
}
