import { BSON, type Collection, type Document, type Filter as Query } from 'mongodb';
import type { Id } from '../../domain/record.ts';
import { batched, type Cluster } from './batched.ts';
import { Gate, parseInTurn } from './connection/large-reads.ts';
import { limits } from './connection/limits.ts';
import { fromBson, type ReadDocument, type StoredRecord } from './schema/documents.ts';

/** How many commands are under way: each may have 16 MiB of documents. */
const commands = 8;

/** A reply that the server cut, at 16 MiB, has more bytes: the next document did not fit. */
const cutReply = 1024 * 1024;

interface Read {
  readonly id: Id;
  resolve(document: ReadDocument | undefined): void;
  reject(error: unknown): void;
}

/** The reads of each document that has not come yet. */
type Reads = Map<Id, readonly Read[]>;

/**
 * Reads single documents by their ids, as a majority has them; those of one turn together. A document
 * is read after it was asked for, never before: it has all that was acknowledged by then.
 */
export class PointReads<D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #projection: Document;
  readonly #gate = new Gate(commands);
  readonly #parsing = new Gate(1);
  readonly #add: (read: Read) => void;

  constructor(cluster: Cluster, collection: Collection<D>, projection: Document) {
    this.#collection = collection;
    this.#projection = projection;
    // Only the map holds a read while it is sent: else what was read would be held with it.
    this.#add = batched(cluster, (reads) => this.#send(Map.groupBy(reads, ({ id }) => id)));
  }

  /** Several reads of a document at once may get the same object. */
  read(id: Id): Promise<ReadDocument | undefined> {
    return new Promise((resolve, reject) => this.#add({ id, resolve, reject }));
  }

  async #send(reads: Reads): Promise<void> {
    try {
      for (let isCut = true; isCut && reads.size > 0; ) {
        isCut = await this.#gate.run(async () => {
          const documents = await this.#find([...reads.keys()]);
          // Small documents do not wait for large ones of the same reply.
          for (const bson of documents.sort((a, b) => a.length - b.length)) {
            await parseInTurn(this.#parsing, bson, () => settle(reads, bson));
          }
          return documents.reduce((bytes, { length }) => bytes + length, 0) >= cutReply;
        });
      }
    } catch (error) {
      for (const { reject } of [...reads.values()].flat()) reject(error);
      return;
    }
    for (const { resolve } of [...reads.values()].flat()) resolve(undefined);
  }

  /** What of some documents fits in one reply: the driver would not ask for more of it twice. */
  #find(ids: readonly Id[]): Promise<Uint8Array[]> {
    // The server finds one by the id alone in less time than by any other condition.
    const filter = { _id: ids.length === 1 ? ids[0] : { $in: ids } } as Query<D>;
    const options = {
      projection: this.#projection,
      maxTimeMS: limits.operationMs,
      singleBatch: true,
      raw: true,
    };
    return this.#collection.find<Uint8Array>(filter, options).toArray();
  }
}

/** Reads the id of a document that cannot be read otherwise. */
const lenient = { validation: { utf8: false }, bsonRegExp: true } as const;

/** Ends the reads of a document. One that cannot be parsed fails them alone. */
function settle(reads: Reads, bson: Uint8Array): void {
  let document: ReadDocument | undefined;
  let failure: unknown;
  try {
    document = fromBson(bson);
  } catch (error) {
    failure = error;
  }
  const { _id } = document?.stored ?? BSON.deserialize(bson, lenient);
  for (const { resolve, reject } of reads.get(_id) ?? []) {
    if (document === undefined) reject(failure);
    else resolve(document);
  }
  reads.delete(_id);
}
