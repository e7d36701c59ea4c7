import { pageLimits } from '../../domain/lists/list.ts';
import type { Collection, Id } from '../../domain/records/record.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { readBatches } from './cursors.ts';
import { decodeRecord, type StoredRecord, waitForIteration } from './documents.ts';
import { limits } from './limits.ts';

/** All waiting reads of one record. */
type Read = PromiseWithResolvers<StoredRecord | undefined>;

/**
 * Batches reads of single records. All reads of one iteration of the event loop share a command: another command costs
 * many times as much as another document. A read never joins a command already sent, because it must see every earlier
 * acknowledged write.
 */
export class PointReads {
  readonly #connection: Connection;
  readonly #collection: Collection;
  readonly #waiting = new Map<Id, Read>();
  #commands = 0;

  constructor(connection: Connection, collection: Collection) {
    this.#connection = connection;
    this.#collection = collection;
  }

  read(call: Call, id: Id): Promise<StoredRecord | undefined> {
    return call.read(() => this.#join(id));
  }

  #join(id: Id): Promise<StoredRecord | undefined> {
    if (this.#waiting.size === 0) setImmediate(() => this.#sendAll());
    const read: Read = this.#waiting.get(id) ?? Promise.withResolvers();
    this.#waiting.set(id, read);
    return read.promise;
  }

  /** Sends waiting reads, unless so many commands run that they would keep other calls from a connection. */
  #sendAll(): void {
    while (this.#waiting.size > 0 && this.#commands < limits.pointReadCommands) {
      const reads = new Map([...this.#waiting].slice(0, limits.idsPerPointRead));
      for (const id of reads.keys()) this.#waiting.delete(id);
      this.#commands += 1;
      void this.#send(reads).finally(() => {
        this.#commands -= 1;
        this.#sendAll();
      });
    }
  }

  async #send(reads: Map<Id, Read>): Promise<void> {
    const { db } = this.#connection;
    const ids = [...reads.keys()];
    const find = {
      find: this.#collection,
      // Equality with one id is the fastest condition for the server.
      filter: { _id: ids.length === 1 ? ids[0] : { $in: ids } },
      limit: ids.length,
      readConcern: { level: 'majority' },
    };
    try {
      const call = this.#connection.sharedCall();
      const expected = { documents: ids.length, bytes: pageLimits.bytes };
      for await (const batch of readBatches(db, call, this.#collection, find, expected)) {
        for (const document of batch) {
          const wait = waitForIteration(document.length);
          if (wait) await wait;
          const record = decodeRecord(this.#collection, document);
          reads.get(record.id)?.resolve(record);
          reads.delete(record.id);
        }
      }
      for (const { resolve } of reads.values()) resolve(undefined);
    } catch (error) {
      for (const { reject } of reads.values()) reject(error);
    }
  }
}
