import { type ClientSession, type Db, type Document, MongoServerError, ObjectId } from 'mongodb';
import { refusedByDatabase } from '../../domain/errors.ts';
import type { Id, Version } from '../../domain/records/record.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { codes, isCommitUnknown, isTransient } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Runs work in a transaction and commits it. Retries both after transient errors, until the call's time is over, or after
 * `maxTries`.
 */
export async function inTransaction<T>(
  connection: Connection,
  call: Call,
  work: (transaction: Transaction) => Promise<T>,
  maxTries = Number.POSITIVE_INFINITY,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    // One session per try, so that the next try need not wait for the server to end this session.
    const session = connection.db.client.startSession();
    try {
      const { writeConcern } = connection.db;
      const options = { readConcern: 'snapshot', maxCommitTimeMS: limits.commandMs } as const;
      session.startTransaction({ ...options, ...(writeConcern && { writeConcern }) });
      const transaction = new Transaction(connection.db, session, call);
      const result = await work(transaction);
      await transaction.commit();
      return result;
    } catch (error) {
      if (tries >= maxTries || !isTransient(error)) throw error;
    } finally {
      session.endSession().catch(() => {});
    }
    await call.backOff(tries);
  }
}

/**
 * The commands of one transaction, sent as raw commands: the driver's bulk methods take twice the time, and
 * don't report which index rejected a document.
 */
export class Transaction {
  readonly #db: Db;
  readonly #session: ClientSession;
  readonly #call: Call;
  /** False while every write has matched nothing. */
  #hasWritten = false;

  constructor(db: Db, session: ClientSession, call: Call) {
    this.#db = db;
    this.#session = session;
    this.#call = call;
  }

  /** Returns the ids and the given fields of documents: those that fit in a reply of 16 MB. */
  async find(
    collection: string,
    filter: Document,
    fields: Document = {},
    limit = 2 ** 30,
  ): Promise<Document[]> {
    const projection = { _id: 1, ...fields };
    const batch = { limit, batchSize: limit, singleBatch: true };
    const { cursor } = await this.#run({ find: collection, filter, projection, ...batch });
    return cursor.firstBatch;
  }

  async count(collection: string, filter: Document): Promise<number> {
    const pipeline = [{ $match: filter }, { $count: 'n' }];
    const { cursor } = await this.#run({ aggregate: collection, pipeline, cursor: {} });
    return cursor.firstBatch[0]?.n ?? 0;
  }

  /** Inserts documents, if there are any. If one is rejected, the error has its `index`. */
  async insert(collection: string, documents: readonly Document[]): Promise<void> {
    if (documents.length > 0) await this.#write({ insert: collection, documents });
  }

  /** Returns how many documents the updates match. If one is rejected, the error has its `index`. */
  async update(collection: string, updates: readonly Document[]): Promise<number> {
    return updates.length > 0 ? this.#write({ update: collection, updates }) : 0;
  }

  async delete(collection: string, filter: Document): Promise<number> {
    return this.#write({ delete: collection, deletes: [{ q: filter, limit: 0 }] });
  }

  /** Returns the versions of the records that exist, by id. */
  async versionsOf(collection: string, ids: readonly Id[]): Promise<Map<Id, Version>> {
    const found = await this.find(collection, { _id: { $in: ids } }, { version: 1 });
    return new Map(found.map(({ _id, version }) => [_id, version]));
  }

  /** Removes the tombstones of these ids, and returns their last versions. */
  async takeTombstones(collection: string, ids: readonly Id[]): Promise<Map<Id, Version>> {
    if (ids.length === 0) return new Map();
    const found = await this.find(collection, { _id: { $in: ids } }, { lastVersion: 1 });
    const taken = new Map(found.map(({ _id, lastVersion }) => [_id, lastVersion]));
    if (taken.size > 0) await this.delete(collection, { _id: { $in: [...taken.keys()] } });
    return taken;
  }

  /**
   * Locks the users who will be named as authors: writes to them, so that a transaction that deletes one of them
   * conflicts with this one. Writes a new value each time: the server skips a write that changes nothing, and skipped
   * writes don't conflict.
   *
   * @param ids null stands for no author
   * @returns the ids that don't belong to a user
   * @throws RostrumError `refused` if a user breaks a validator: the server checks the whole document
   */
  async lockAuthors(ids: Iterable<Id | null>): Promise<ReadonlySet<Id | null>> {
    const authors = new Set(ids);
    authors.delete(null);
    if (authors.size === 0) return authors;
    const filter = { _id: { $in: [...authors] } };
    const lock = { q: filter, u: { $set: { authorLock: new ObjectId() } }, multi: true };
    const matched = await this.update('users', [lock]).catch((error) => {
      throw error.code === codes.invalidDocument ? refusedByDatabase(error) : error;
    });
    if (matched === authors.size) return new Set();
    return authors.difference(new Set((await this.find('users', filter)).map(({ _id }) => _id)));
  }

  /** Commits. Retries until the outcome is known, or the time is over. */
  async commit(): Promise<void> {
    const call = this.#call;
    if (this.#hasWritten) call.outcome = 'unknown';
    for (let tries = 1; ; tries++) {
      try {
        return await call.run(() => this.#session.commitTransaction());
      } catch (error) {
        if (isCommitUnknown(error)) await call.backOff(tries);
        else {
          call.outcome = 'none';
          throw error;
        }
      }
    }
  }

  async #write(command: Document): Promise<number> {
    const { n, writeErrors } = await this.#run(command);
    const [error] = writeErrors ?? [];
    if (error !== undefined) throw new MongoServerError(error);
    if (n > 0) this.#hasWritten = true;
    return n;
  }

  #run(command: Document): Promise<Document> {
    const options = { session: this.#session, signal: this.#call.timeoutSignal };
    return this.#call.run(({ maxTimeMS }) => this.#db.command({ ...command, maxTimeMS }, options));
  }
}
