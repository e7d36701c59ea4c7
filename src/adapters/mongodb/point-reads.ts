import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BSON,
  type Collection,
  type Document,
  type FindCursor,
  type Filter as Query,
} from 'mongodb';
import type { Id } from '../../domain/record.ts';
import type { Connection } from './connection/connection.ts';
import { limits } from './connection/limits.ts';
import { fromBson, type ReadDocument, type StoredRecord } from './schema/documents.ts';

/** A document of so many bytes takes long to be parsed, and may have twenty times its size then. */
const largeDocument = 64 * 1024;

interface Read {
  readonly id: Id;
  resolve(document: ReadDocument | undefined): void;
  reject(error: unknown): void;
}

/**
 * Reads single documents by their ids, as a majority has them. Reads that are asked for in one turn of
 * the event loop share a command: one costs the driver and the server many times as much as one more
 * document in it.
 *
 * A document is read after it was asked for, never before: it has all that was acknowledged by then.
 */
export class PointReads<D extends StoredRecord> {
  readonly #topology: Pick<Connection, 'isSharded'>;
  readonly #collection: Collection<D>;
  readonly #projection: Document;
  #waiting: Read[] = [];

  constructor(
    topology: Pick<Connection, 'isSharded'>,
    collection: Collection<D>,
    projection: Document,
  ) {
    this.#topology = topology;
    this.#collection = collection;
    this.#projection = projection;
  }

  /** Several who ask for a document at once may get the same object. */
  read(id: Id): Promise<ReadDocument | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ id, resolve, reject }) === 1) setImmediate(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    const reads = [...Map.groupBy(this.#waiting, ({ id }) => id)];
    this.#waiting = [];
    // A shard may fail alone: a command for documents of several would fail with it.
    const most = this.#topology.isSharded ? 1 : limits.readTogether;
    for (let n = 0; n < reads.length; n += most) void this.#send(new Map(reads.slice(n, n + most)));
  }

  async #send(reads: Map<Id, Read[]>): Promise<void> {
    try {
      for await (const bson of this.#find([...reads.keys()])) {
        settle(reads, bson);
        // Who waits for it makes text of it before the next one is parsed.
        if (bson.length > largeDocument) await nextTurn();
      }
      for (const { resolve } of [...reads.values()].flat()) resolve(undefined);
    } catch (error) {
      for (const { reject } of [...reads.values()].flat()) reject(error);
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
function settle(reads: Map<Id, Read[]>, bson: Uint8Array): void {
  let document: ReadDocument | undefined;
  let failure: unknown;
  try {
    document = fromBson(bson);
  } catch (error) {
    failure = error;
  }
  const { _id } = document?.stored ?? BSON.deserialize(bson, { validation: { utf8: false } });
  for (const { resolve, reject } of reads.get(_id) ?? []) {
    if (document === undefined) reject(failure);
    else resolve(document);
  }
  reads.delete(_id);
}
