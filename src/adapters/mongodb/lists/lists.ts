import type { AbstractCursor, ClientSession, Collection, Filter as Query } from 'mongodb';
import type { Page, PageRequest, Position } from '../../../domain/list.ts';
import { type Entity, JsonVersioned } from '../../../domain/record.ts';
import type { ScanRequest } from '../../../ports/transfer.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { SnapshotMissing } from '../connection/errors.ts';
import { LargeDocuments } from '../connection/large-documents.ts';
import { fromBson, isVisible, type StoredRecord } from '../schema/documents.ts';
import { batches, pageOf } from './batches.ts';
import type { Conditions, Resource } from './conditions.ts';
import { namedPipeline, pageQuery, visibleParts } from './query.ts';
import { firstBehind } from './text.ts';

/** A record of a list, with its position in it. */
class Listed<R> extends JsonVersioned<R> {
  readonly position: Position;

  constructor(json: string, version: number, position: Position) {
    super(json, version);
    this.position = position;
  }
}

/** The lists of one collection. */
export class Lists<R extends Entity, D extends StoredRecord, Filter, Sort extends string> {
  readonly #connection: Connection;
  readonly #collection: Collection<D>;
  readonly #resource: Resource<Filter, Sort>;
  readonly #largeDocuments: LargeDocuments;

  constructor(
    connection: Connection,
    collection: Collection<D>,
    resource: Resource<Filter, Sort>,
    largeDocuments = new LargeDocuments(),
  ) {
    this.#largeDocuments = largeDocuments;
    this.#connection = connection;
    this.#collection = collection;
    this.#resource = resource;
  }

  async list(call: Call, request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const conditions = this.#resource.conditions(request.filter);
    if (conditions.never) return { items: [], ...(request.total && { total: 0 }) };
    // One snapshot for all that a list reads: a cascade is in it or is not, page and total agree.
    const snapshot = this.#connection.hasTransactions;
    await this.#largeDocuments.room();
    for (let attempt = 0; ; attempt++) {
      try {
        return await call.readAll(() =>
          this.#connection.inSession({ snapshot }, (session) =>
            this.#read(call, session, conditions, request),
          ),
        );
      } catch (error) {
        if (!(error instanceof SnapshotMissing)) throw error;
        await call.pause(attempt);
      }
    }
  }

  /** The first records behind an id, by id. */
  async scan(call: Call, { limit, bytes, after }: ScanRequest): Promise<readonly Listed<R>[]> {
    const first = after === undefined ? undefined : firstBehind(after);
    const behind = first === undefined ? { $gt: after } : { $gte: first };
    const filter = { ...isVisible, ...(after !== undefined && { _id: behind }) } as Query<D>;
    const options = { hint: '_id_', limit, projection: visibleParts, ...raw(limit) };
    const open = (bounds: Bounds) =>
      this.#collection.find<Uint8Array>(filter, { ...options, ...bounds }).sort({ _id: 1 });
    const page = await call.readAll(() => this.#cut(batches(call, open), { limit, bytes }, '_id'));
    return page.items;
  }

  async #read(
    call: Call,
    session: ClientSession,
    conditions: Conditions<Sort>,
    request: PageRequest<Filter, Sort>,
  ): Promise<Page<R>> {
    const { order, after } = request;
    const path = this.#resource.paths[order.by];
    const query = pageQuery(conditions, order, path, after);
    const named = conditions.named(order.by);
    const match = named === undefined ? query.match : { ...query.match, ...isVisible };
    const read = {
      ...{ session, hint: named ?? query.hint },
      // The client's own read concern would take the place of the session's.
      ...(session.snapshotEnabled && { readConcern: 'snapshot' as const }),
    };
    const limit = request.limit + 1; // One more tells whether a page follows.
    const open = (bounds: Bounds): AbstractCursor<Uint8Array> => {
      const options = { ...read, ...raw(limit), ...bounds };
      if (named === undefined) {
        const found = this.#collection.find<Uint8Array>(query.page as Query<D>, options);
        return found.project<Uint8Array>(visibleParts).sort(query.sort).limit(limit);
      }
      const { collectionName } = this.#collection;
      const pipeline = namedPipeline(match, order, path, limit, collectionName, after);
      return this.#collection.aggregate<Uint8Array>(pipeline, options);
    };
    const cut = await this.#cut(batches(call, open), request, path);
    if (!request.total) return cut;
    const total = await call.readPart((bounds) =>
      this.#collection.countDocuments(match as Query<D>, { ...read, ...bounds }),
    );
    return { ...cut, total };
  }

  #cut(
    found: AsyncIterable<readonly Uint8Array[]>,
    size: { readonly limit: number; readonly bytes: number },
    path: string,
  ) {
    const [outer = '', inner] = path.split('.');
    const parse = (bson: Uint8Array): Listed<R> => {
      const { stored, json } = fromBson(bson);
      const key: unknown = inner === undefined ? stored[outer] : stored[outer][inner];
      const position = { key: key === '' ? null : String(key), id: stored._id };
      return new Listed(json, stored.version, position);
    };
    return pageOf(found, this.#largeDocuments, size, parse, ({ position }) => position);
  }
}

/** BSON as it comes, and so many documents in one batch if it holds them. */
function raw(count: number) {
  // Room for one more: else the server keeps a cursor for what does not follow.
  return { raw: true, batchSize: count + 1 };
}
