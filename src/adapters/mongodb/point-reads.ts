import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Document } from 'mongodb';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import { allParts, type StoredRecord, smallParts, withoutUtf8Check } from './documents.ts';
import { limits } from './limits.ts';
import { Semaphore } from './semaphore.ts';

/** All waiting reads of one record. */
type Read = PromiseWithResolvers<StoredRecord | undefined>;

/**
 * Batches reads by id. All reads of one iteration of the event loop share a command: another command costs many
 * times as much as another document. A read never joins a command already sent, because it must see every earlier
 * acknowledged write.
 */
export class PointReads {
  readonly #connection: Connection;
  readonly #collection: string;
  readonly #largeReads = new Semaphore(limits.largeReads);
  #waiting = new Map<string, Read>();

  constructor(connection: Connection, collection: string) {
    this.#connection = connection;
    this.#collection = collection;
  }

  async read<T extends StoredRecord>(call: Call, id: string): Promise<T | undefined> {
    const found = await call.read(() => this.#join(id));
    if (found?.restBytes === undefined) return found as T | undefined;
    const [whole] = await this.#largeReads.use(1, async () => {
      // Lets other work run before another large record is parsed.
      await nextIteration();
      return call.read(() => this.#find({ _id: id }, allParts));
    });
    return whole as T | undefined;
  }

  #join(id: string): Promise<StoredRecord | undefined> {
    if (this.#waiting.size === 0) setImmediate(() => this.#sendAll());
    const read: Read = this.#waiting.get(id) ?? Promise.withResolvers();
    this.#waiting.set(id, read);
    return read.promise;
  }

  #sendAll(): void {
    const all = [...this.#waiting];
    this.#waiting = new Map();
    for (let n = 0; n < all.length; n += limits.pointReads) {
      void this.#send(all.slice(n, n + limits.pointReads));
    }
  }

  async #send(reads: readonly (readonly [string, Read])[]): Promise<void> {
    const ids = reads.map(([id]) => id);
    try {
      // Equality with one id is the fastest condition for the server.
      const documents = await this.#find(
        { _id: ids.length === 1 ? ids[0] : { $in: ids } },
        smallParts,
      );
      const found = new Map(documents.map((document) => [document._id, document]));
      for (const [id, { resolve }] of reads) resolve(found.get(id));
    } catch (error) {
      for (const [, { reject }] of reads) reject(error);
    }
  }

  async #find(filter: Document, projection: Document): Promise<StoredRecord[]> {
    const command = {
      find: this.#collection,
      filter,
      projection,
      batchSize: limits.pointReads,
      singleBatch: true,
      readConcern: { level: 'majority' },
      maxTimeMS: limits.commandMs,
    };
    const { cursor } = await this.#connection.db.command(command, withoutUtf8Check);
    return cursor.firstBatch;
  }
}
