import {
  type Collection,
  type InsertOneOptions,
  MongoBulkWriteError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { batched, type Cluster } from './batched.ts';
import { limits } from './connection/limits.ts';
import type { StoredRecord } from './schema/documents.ts';

interface Insert<D> {
  readonly document: OptionalUnlessRequiredId<D>;
  resolve(): void;
  reject(error: unknown): void;
}

/** How many characters of JSON a record has that is inserted alone. */
const largeRecord = 16 * 1024;

/** Inserts single documents; those of one turn together, but for large ones. */
export class Inserts<D extends StoredRecord> {
  readonly #collection: Collection<D>;
  readonly #options: InsertOneOptions;
  readonly #add: (insert: Insert<D>) => void;

  constructor(cluster: Cluster, collection: Collection<D>, options: InsertOneOptions = {}) {
    this.#collection = collection;
    this.#options = { ...options, maxTimeMS: limits.operationMs };
    this.#add = batched(cluster, (inserts) => this.#send(inserts));
  }

  /**
   * @param characters of the record as JSON
   * @throws what `translate` knows of the driver
   */
  insert(stored: D, characters: number): Promise<void> {
    const document = stored as OptionalUnlessRequiredId<D>;
    return new Promise((resolve, reject) => {
      const insert = { document, resolve, reject };
      // Several large ones would be sent one after the other, and acknowledged with the last.
      if (characters > largeRecord) void this.#sendAlone(insert);
      else this.#add(insert);
    });
  }

  async #send(inserts: readonly Insert<D>[]): Promise<void> {
    const [first, ...others] = inserts;
    if (first !== undefined && others.length === 0) return this.#sendAlone(first);
    const documents = inserts.map(({ document }) => document);
    let refused: ReadonlySet<number> | undefined = new Set();
    let failure: unknown;
    try {
      await this.#collection.insertMany(documents, { ...this.#options, ordered: false });
    } catch (error) {
      refused = refusedOf(error, inserts.length);
      failure = unwrapped(error);
    }
    for (const [index, insert] of inserts.entries()) {
      if (refused === undefined) insert.reject(failure);
      else if (refused.has(index)) void this.#sendAlone(insert);
      else insert.resolve();
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

/** The driver wraps what happens on the way to the server, and the class is lost. */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const { errorResponse } = error;
  return errorResponse instanceof Error ? errorResponse : error;
}
