import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BSON,
  type Collection,
  type Document,
  type FindCursor,
  type Filter as Query,
} from 'mongodb';
import type { Id } from '../../domain/record.ts';
import { limits } from './connection/limits.ts';
import { fromBson, type ReadDocument, type StoredRecord } from './schema/documents.ts';
import { type Topology, together } from './together.ts';

/** A document of so many bytes takes long to be parsed, and may have twenty times its size then. */
const largeDocument = 64 * 1024;

interface Read {
  readonly id: Id;
  resolve(document: ReadDocument | undefined): void;
  reject(error: unknown): void;
}

/**
 * Reads single documents by their ids, as a majority has them; those of one turn together. A document
 * is read after it was asked for, never before: it has all that was acknowledged by then.
 */
export class PointReads<D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #projection: Document;
  readonly #add: (read: Read) => void;

  constructor(topology: Topology, collection: Collection<D>, projection: Document) {
    this.#collection = collection;
    this.#projection = projection;
    this.#add = together(topology, (reads) => this.#send(reads));
  }

  /** Several who ask for a document at once may get the same object. */
  read(id: Id): Promise<ReadDocument | undefined> {
    return new Promise((resolve, reject) => this.#add({ id, resolve, reject }));
  }

  async #send(reads: readonly Read[]): Promise<void> {
    const left = Map.groupBy(reads, ({ id }) => id);
    try {
      for await (const bson of this.#find([...left.keys()])) {
        settle(left, bson);
        // Who asked for it makes text of it before the next one is parsed.
        if (bson.length > largeDocument) await nextTurn();
      }
      for (const { resolve } of [...left.values()].flat()) resolve(undefined);
    } catch (error) {
      for (const { reject } of [...left.values()].flat()) reject(error);
    }
  }

  #find(ids: readonly Id[]): FindCursor<Uint8Array> {
    // The server finds one by the id alone in less time than by any other condition.
    const filter = { _id: ids.length === 1 ? ids[0] : { $in: ids } } as Query<D>;
    const projection = this.#projection;
    const maxTimeMS = limits.operationMs;
    return this.#collection.find<Uint8Array>(filter, { projection, maxTimeMS, raw: true });
  }
}

/** Hands a document to those who asked for it. One that cannot be parsed fails for them alone. */
function settle(left: Map<Id, Read[]>, bson: Uint8Array): void {
  let document: ReadDocument | undefined;
  let failure: unknown;
  try {
    document = fromBson(bson);
  } catch (error) {
    failure = error;
  }
  const { _id } = document?.stored ?? BSON.deserialize(bson, { validation: { utf8: false } });
  for (const { resolve, reject } of left.get(_id) ?? []) {
    if (document === undefined) reject(failure);
    else resolve(document);
  }
  left.delete(_id);
}
