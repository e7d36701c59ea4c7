import type { AbstractCursor, ClientSession, Collection, Filter as Query } from 'mongodb';
import { cutPage, type Page, type PageRequest, type Position } from '../../../domain/list.ts';
import { type Entity, projected, VersionedRecord } from '../../../domain/record.ts';
import type { ScanRequest } from '../../../ports/transfer.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { isSnapshotMissing } from '../connection/errors.ts';
import { Gate, largeBytes, parseInTurn } from '../connection/large-reads.ts';
import { fromBson, isVisible, type StoredRecord } from '../schema/documents.ts';
import { unescapeKeys } from '../schema/keys.ts';
import { type Conditions, firstBehind, type Resource } from './conditions.ts';
import { ListSizes, shapeOf } from './list-sizes.ts';
import { canProject, namedPipeline, pageQuery, visibleParts } from './query.ts';

/** How many lists are under way that may be large. */
const largeLists = 4;

/** A record of a list, with its position in it. */
class Listed<R> extends VersionedRecord<R> {
  readonly position: Position;

  constructor(json: string, version: number, position: Position) {
    super(json, version);
    this.position = position;
  }
}

/** What a page is read by. */
interface Reading {
  readonly shape: string;
  readonly limit: number;
  readonly bytes: number;
  /** Where the key of the sort is kept. */
  readonly path: string;
  readonly fields?: readonly string[] | undefined;
}

/** The lists of one collection. */
export class Lists<
  R extends Entity,
  D extends StoredRecord,
  Filter extends object,
  S extends string,
> {
  readonly #connection: Connection;
  readonly #collection: Collection<D>;
  readonly #resource: Resource<Filter, S>;
  readonly #gate = new Gate(largeLists);
  readonly #parsing = new Gate(1);
  readonly #sizes = new ListSizes();

  constructor(connection: Connection, collection: Collection<D>, resource: Resource<Filter, S>) {
    this.#connection = connection;
    this.#collection = collection;
    this.#resource = resource;
  }

  async list(call: Call, request: PageRequest<Filter, S>): Promise<Page<R>> {
    const conditions = this.#resource.conditions(request.filter);
    if (conditions.never) return { items: [], ...(request.total && { total: 0 }) };
    // One snapshot for all that a list reads: a cascade is in it or is not, page and total agree.
    const snapshot = this.#connection.hasTransactions;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#read(call, shapeOf(request), (bounds) =>
          this.#connection.inSession({ snapshot }, (session) =>
            this.#page(session, bounds, conditions, request),
          ),
        );
      } catch (error) {
        if (!isSnapshotMissing(error)) throw error;
        await call.pause(attempt);
      }
    }
  }

  /** The first records behind an id, by id. */
  async scan(call: Call, { limit, bytes, after }: ScanRequest): Promise<readonly Listed<R>[]> {
    const first = after === undefined ? undefined : firstBehind(after);
    const behind = first === undefined ? { $gt: after } : { $gte: first };
    const filter = { ...isVisible, ...(after !== undefined && { _id: behind }) } as Query<D>;
    const reading = { shape: 'scan', limit, bytes, path: '_id' };
    const page = await this.#read(call, reading.shape, (bounds) => {
      const options = {
        hint: '_id_',
        limit,
        projection: visibleParts('_id'),
        ...this.#raw(reading),
      };
      const all = { ...options, ...bounds };
      return this.#cut(this.#collection.find<Uint8Array>(filter, all).sort({ _id: 1 }), reading);
    });
    return page.items;
  }

  /**
   * Reads what may be large when there is a place for it; what came to little the last time needs none.
   * The place is taken until the driver has done, also when the call gives up before.
   */
  #read<T>(call: Call, shape: string, read: (bounds: Bounds) => Promise<T>): Promise<T> {
    return call.read((bounds) => {
      const last = this.#sizes.get(shape);
      const isSmall = last !== undefined && last.bytes < largeBytes;
      return isSmall ? read(bounds) : this.#gate.run(() => read(bounds));
    });
  }

  async #page(
    session: ClientSession,
    bounds: Bounds,
    conditions: Conditions<S>,
    request: PageRequest<Filter, S>,
  ): Promise<Page<R>> {
    const { order, after, bytes } = request;
    const fields = request.fields?.every(canProject) ? request.fields : undefined;
    const path = this.#resource.paths[order.by];
    const reading = { shape: shapeOf(request), limit: request.limit, bytes, path, fields };
    const query = pageQuery(conditions, order, path, after);
    const named = conditions.named(order.by);
    const match = named === undefined ? query.match : { ...query.match, ...isVisible };
    const shared = {
      ...{ session, hint: named ?? query.hint, ...bounds },
      // The client's own read concern would take the place of the session's.
      ...(session.snapshotEnabled && { readConcern: 'snapshot' as const }),
    };
    const options = { ...shared, ...this.#raw(reading) };
    const limit = request.limit + 1; // One more tells whether a page follows.
    const parts = visibleParts(path, fields);
    let cursor: AbstractCursor<Uint8Array>;
    if (named === undefined) {
      const found = this.#collection.find<Uint8Array>(query.page as Query<D>, options);
      cursor = found.project<Uint8Array>(parts).sort(query.sort).limit(limit);
    } else {
      const { collectionName } = this.#collection;
      const pipeline = namedPipeline(match, order, path, limit, collectionName, parts, after);
      cursor = this.#collection.aggregate<Uint8Array>(pipeline, options);
    }
    const page = await this.#cut(cursor, reading);
    const cut = fields === undefined ? page : { ...page, isProjected: true };
    if (!request.total) return cut;
    return { ...cut, total: await this.#collection.countDocuments(match as Query<D>, shared) };
  }

  /** BSON as it comes, and in one batch what a page of so many documents and bytes has. */
  #raw({ shape, limit, bytes }: Reading) {
    // Room for one more: else the server keeps a cursor for what does not follow.
    const most = limit + 1;
    const last = this.#sizes.get(shape);
    if (last === undefined || last.bytes === 0) return { raw: true, batchSize: most };
    const expected = Math.ceil((2 * bytes * last.documents) / last.bytes) + 1;
    return { raw: true, batchSize: Math.min(expected, most) };
  }

  /** Cuts a page off what a cursor finds, with little more of it fetched and parsed than that. */
  async #cut(cursor: AbstractCursor<Uint8Array>, reading: Reading) {
    const items: Listed<R>[] = [];
    let [bytes, characters] = [0, 0];
    try {
      for await (const bson of cursor) {
        bytes += bson.length;
        const item = await parseInTurn(this.#parsing, bson, () => listed<R>(bson, reading));
        items.push(item);
        characters += item.json.length;
        // A character has one byte at least: then the page ends before this record, or is the first.
        if (items.length > reading.limit || (items.length > 1 && characters > reading.bytes)) break;
      }
    } finally {
      this.#sizes.learn(reading.shape, { bytes, documents: items.length });
    }
    return cutPage(items, reading, ({ position }) => position);
  }
}

function listed<R>(bson: Uint8Array, { path, fields }: Reading): Listed<R> {
  const { stored, json } = fromBson(bson);
  const [outer = '', inner] = path.split('.');
  const key: unknown = inner === undefined ? stored[outer] : stored[outer][inner];
  const position = { key: key === '' ? null : String(key), id: stored._id };
  // The sort key is read for the position, also where it is not asked for.
  const text = fields
    ? JSON.stringify(projected(unescapeKeys(stored.record) as Entity, fields))
    : json;
  return new Listed(text, stored.version, position);
}
