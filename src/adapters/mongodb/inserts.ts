import {
  type Collection,
  type InsertOneOptions,
  MongoBulkWriteError,
  MongoError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { limits } from './connection/limits.ts';
import type { StoredRecord } from './schema/documents.ts';
import { type Topology, together } from './together.ts';

interface Insert<D> {
  readonly document: OptionalUnlessRequiredId<D>;
  resolve(): void;
  reject(error: unknown): void;
}

/** Inserts single documents; those of one turn together. */
export class Inserts<D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #options: InsertOneOptions;
  readonly #add: (insert: Insert<D>) => void;

  constructor(topology: Topology, collection: Collection<D>, options: InsertOneOptions = {}) {
    this.#collection = collection;
    this.#options = { ...options, maxTimeMS: limits.operationMs };
    this.#add = together(topology, (inserts) => this.#send(inserts));
  }

  /** Fulfilled and rejected as the driver's `insertOne` is. */
  insert(stored: D): Promise<void> {
    const document = stored as OptionalUnlessRequiredId<D>;
    return new Promise((resolve, reject) => this.#add({ document, resolve, reject }));
  }

  async #send(inserts: readonly Insert<D>[]): Promise<void> {
    const [first, ...others] = inserts;
    if (first !== undefined && others.length === 0) return this.#sendAlone(first);
    const documents = inserts.map(({ document }) => document);
    try {
      await this.#collection.insertMany(documents, { ...this.#options, ordered: false });
      for (const { resolve } of inserts) resolve();
    } catch (error) {
      const refused = refusedOf(error, inserts.length);
      for (const [index, insert] of inserts.entries()) {
        if (refused === undefined) insert.reject(unwrapped(error));
        else if (refused.has(index)) void this.#sendAlone(insert);
        else insert.resolve();
      }
    }
  }

  /** What was refused among others is refused again: the error of one alone says by which index. */
  #sendAlone({ document, resolve, reject }: Insert<D>): Promise<void> {
    return this.#collection.insertOne(document, this.#options).then(() => resolve(), reject);
  }
}

/**
 * Which documents of a command the server refused while it inserted all others, as durably as was
 * asked for; undefined when that is not certain.
 */
function refusedOf(error: unknown, count: number): ReadonlySet<number> | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined;
  const refused = new Set([error.writeErrors].flat().map(({ index }) => index));
  const isWhole = refused.size > 0 && refused.size + error.insertedCount === count;
  return isWhole && error.result.getWriteConcernError() === undefined ? refused : undefined;
}

/** The driver puts every error of such a command into one of a class that says nothing. */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const { errorResponse } = error;
  return errorResponse instanceof MongoError ? errorResponse : error;
}
