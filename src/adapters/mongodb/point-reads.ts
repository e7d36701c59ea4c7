import type { Document } from 'mongodb';
import { pageLimits } from '../../domain/lists/list.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import { readBatches } from './cursors.ts';
import { nextTurn } from './large-records.ts';
import { limits } from './limits.ts';

/** The value of a unique field. */
export type Key = string | number;

/** A unique field of a collection, and what is read of the documents. */
interface Target<T> {
  readonly collection: string;
  readonly path: string;
  /** The fields to read; all if absent. */
  readonly projection?: Document;
  readonly decode: (document: Buffer) => readonly [key: Key, value: T];
}

/** All waiting reads of one document. */
type Read<T> = PromiseWithResolvers<T | undefined>;

/**
 * Batches reads by a unique field. All reads of one iteration of the event loop share a command: another command costs
 * many times as much as another document. A read never joins a command already sent, because it must see every earlier
 * acknowledged write.
 */
export class PointReads<T> {
  readonly #connection: Connection;
  readonly #target: Target<T>;
  readonly #waiting = new Map<Key, Read<T>>();
  #commands = 0;

  constructor(connection: Connection, target: Target<T>) {
    this.#connection = connection;
    this.#target = target;
  }

  read(call: Call, key: Key): Promise<T | undefined> {
    return call.read(() => this.#join(key));
  }

  /** Returns what is stored under each key. */
  async readAll(call: Call, keys: readonly Key[]): Promise<(T | undefined)[]> {
    if (keys.length === 0) return [];
    return call.read(() => Promise.all(keys.map((key) => this.#join(key))));
  }

  #join(key: Key): Promise<T | undefined> {
    if (this.#waiting.size === 0) setImmediate(() => this.#sendAll());
    const read: Read<T> = this.#waiting.get(key) ?? Promise.withResolvers();
    this.#waiting.set(key, read);
    return read.promise;
  }

  /** Sends waiting reads, unless so many commands run that they would keep other calls from a connection. */
  #sendAll(): void {
    while (this.#waiting.size > 0 && this.#commands < limits.pointReadCommands) {
      const reads = new Map([...this.#waiting].slice(0, limits.pointReads));
      for (const key of reads.keys()) this.#waiting.delete(key);
      this.#commands += 1;
      void this.#send(reads).finally(() => {
        this.#commands -= 1;
        this.#sendAll();
      });
    }
  }

  async #send(reads: Map<Key, Read<T>>): Promise<void> {
    const { db } = this.#connection;
    const { collection, path, projection, decode } = this.#target;
    const keys = [...reads.keys()];
    const find = {
      find: collection,
      // Equality with one key is the fastest condition for the server.
      filter: { [path]: keys.length === 1 ? keys[0] : { $in: keys } },
      ...(projection && { projection }),
      ...{ limit: keys.length, readConcern: { level: 'majority' } },
    };
    try {
      const call = this.#connection.sharedCall();
      for await (const batch of readBatches(db, call, find, pageLimits.bytes)) {
        for (const document of batch) {
          if (document.length > limits.smallRecord) await nextTurn();
          const [key, value] = decode(document);
          reads.get(key)?.resolve(value);
          reads.delete(key);
        }
      }
      for (const { resolve } of reads.values()) resolve(undefined);
    } catch (error) {
      for (const { reject } of reads.values()) reject(error);
    }
  }
}
