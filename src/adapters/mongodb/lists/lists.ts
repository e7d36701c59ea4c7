import type { AbstractCursor, ClientSession, Collection, Filter as Query } from 'mongodb';
import type { Page, PageRequest, Position } from '../../../domain/list.ts';
import { type Entity, projected, VersionedRecord } from '../../../domain/record.ts';
import type { ScanRequest } from '../../../ports/transfer.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { Connection } from '../connection/connection.ts';
import { SnapshotMissing } from '../connection/errors.ts';
import { LargeReads, type Read } from '../connection/large-reads.ts';
import { fromBson, isVisible, type StoredRecord } from '../schema/documents.ts';
import { unescapeKeys } from '../schema/keys.ts';
import { batches, pageOf } from './batches.ts';
import type { Conditions, Resource } from './conditions.ts';
import { canProject, namedPipeline, pageQuery, visibleParts } from './query.ts';
import { firstBehind } from './text.ts';

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

/** The lists of one collection. */
export class Lists<R extends Entity, D extends StoredRecord, Filter, Sort extends string> {
  readonly #connection: Connection;
  readonly #collection: Collection<D>;
  readonly #resource: Resource<Filter, Sort>;
  readonly #reads = new LargeReads(largeLists);

  constructor(connection: Connection, collection: Collection<D>, resource: Resource<Filter, Sort>) {
    this.#connection = connection;
    this.#collection = collection;
    this.#resource = resource;
  }

  async list(call: Call, request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const conditions = this.#resource.conditions(request.filter);
    if (conditions.never) return { items: [], ...(request.total && { total: 0 }) };
    // One snapshot for all that a list reads: a cascade is in it or is not, page and total agree.
    const snapshot = this.#connection.hasTransactions;
    const kind = kindOf(request);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#reads.run(kind, (read) =>
          call.readAll(() =>
            this.#connection.inSession({ snapshot }, (session) =>
              this.#read(call, read, session, conditions, request),
            ),
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
    const options = { hint: '_id_', limit, projection: visibleParts() };
    const page = await this.#reads.run('scan', (read) => {
      const open = (bounds: Bounds) => {
        const all = { ...options, ...raw({ limit, bytes }, read), ...bounds };
        return this.#collection.find<Uint8Array>(filter, all).sort({ _id: 1 });
      };
      const size = { limit, bytes };
      return call.readAll(() => this.#cut(call, read, open, size, '_id'));
    });
    return page.items;
  }

  async #read(
    call: Call,
    read: Read,
    session: ClientSession,
    conditions: Conditions<Sort>,
    request: PageRequest<Filter, Sort>,
  ): Promise<Page<R>> {
    const { order, after, signal } = request;
    const fields = request.fields?.every(canProject) ? request.fields : undefined;
    const path = this.#resource.paths[order.by];
    const query = pageQuery(conditions, order, path, after);
    const named = conditions.named(order.by);
    const match = named === undefined ? query.match : { ...query.match, ...isVisible };
    const shared = {
      ...{ session, hint: named ?? query.hint },
      // The client's own read concern would take the place of the session's.
      ...(session.snapshotEnabled && { readConcern: 'snapshot' as const }),
    };
    const limit = request.limit + 1; // One more tells whether a page follows.
    const open = (bounds: Bounds): AbstractCursor<Uint8Array> => {
      signal?.throwIfAborted();
      const options = { ...shared, ...raw({ limit, bytes: request.bytes }, read), ...bounds };
      const parts = visibleParts(fields, path);
      if (named === undefined) {
        const found = this.#collection.find<Uint8Array>(query.page as Query<D>, options);
        return found.project<Uint8Array>(parts).sort(query.sort).limit(limit);
      }
      const { collectionName } = this.#collection;
      const pipeline = namedPipeline(match, order, path, limit, collectionName, parts, after);
      return this.#collection.aggregate<Uint8Array>(pipeline, options);
    };
    const page = await this.#cut(call, read, open, request, path, fields);
    const cut = fields === undefined ? page : { ...page, isProjected: true };
    if (!request.total) return cut;
    const total = await call.readPart((bounds) =>
      this.#collection.countDocuments(match as Query<D>, { ...shared, ...bounds }),
    );
    return { ...cut, total };
  }

  #cut(
    call: Call,
    read: Read,
    open: (bounds: Bounds) => AbstractCursor<Uint8Array>,
    size: { readonly limit: number; readonly bytes: number },
    path: string,
    fields?: readonly string[],
  ) {
    const [outer = '', inner] = path.split('.');
    const parse = (bson: Uint8Array): Listed<R> => {
      const { stored, json } = fromBson(bson);
      const key: unknown = inner === undefined ? stored[outer] : stored[outer][inner];
      const position = { key: key === '' ? null : String(key), id: stored._id };
      // The sort key is read for the position, also where it is not asked for.
      const text = fields
        ? JSON.stringify(projected(unescapeKeys(stored.record) as Entity, fields))
        : json;
      return new Listed(text, stored.version, position);
    };
    const found = batches(call, open, read);
    return pageOf(found, this.#reads, read, size, parse, ({ position }) => position);
  }
}

/** BSON as it comes, and in one batch what a page of so many documents and bytes has. */
function raw({ limit, bytes }: { readonly limit: number; readonly bytes: number }, read: Read) {
  // Room for one more: else the server keeps a cursor for what does not follow.
  const most = limit + 1;
  if (read.documentBytes === 0) return { raw: true, batchSize: most };
  return { raw: true, batchSize: Math.min(Math.ceil((2 * bytes) / read.documentBytes) + 1, most) };
}

/** Lists of one kind come to about the same size. */
function kindOf({ filter, order, limit, fields }: PageRequest<unknown, string>): string {
  const filters = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
  return [order.by, order.direction, limit, fields?.join(), ...filters.map(([name]) => name)].join(
    ' ',
  );
}
