import { type Document, MongoServerError } from 'mongodb';
import { isRostrumError, storeUnavailable, unknownAuthor } from '../../domain/errors.ts';
import { type DeclaredFields, fieldsIn } from '../../domain/fields/declared-fields.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import { type Collection, type Version, VersionedRecord } from '../../domain/records/record.ts';
import type { Creation } from '../../ports/repository.ts';
import { tombstoneCollections } from './collections.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import {
  documentOf,
  type EncodedRecord,
  receiptId,
  receiptUpsert,
  type StoredReceipt,
  valueAt,
} from './documents.ts';
import { constraintErrorOf, isDuplicate, isTransient, takenError } from './errors.ts';
import { limits } from './limits.ts';
import { inTransaction, type Transaction } from './transactions.ts';

interface CreationRequest {
  readonly call: Call;
  readonly collection: Collection;
  readonly encoded: EncodedRecord;
  readonly receipt: Receipt | undefined;
  /** True if its id cannot be that of another record, or of a deleted one. */
  readonly isNewId: boolean;
}

interface QueuedCreation extends CreationRequest {
  /** Its unique values, in the order of their errors. */
  readonly unique: readonly UniqueValue[];
  version: Version;
  resolve(creation: Creation<unknown>): void;
  reject(error: unknown): void;
}

/** A value that only one document of a collection can have. */
interface UniqueValue {
  readonly collection: string;
  readonly path: string;
  readonly value: unknown;
  /** Names the value. Creations with the same key are not inserted at the same time. */
  readonly key: string;
}

type Group = readonly QueuedCreation[];

/** Ends the transaction of a group: these creations fail, and the others are tried again. */
class GroupRejection extends Error {
  readonly creations: Group;

  constructor(creations: Group, cause: unknown) {
    super('Some creations of the group failed.', { cause });
    this.creations = creations;
  }
}

/** Aborts the transaction of a group that repeats a receipt. The receipt can be too new for a majority read. */
class ReceiptTaken extends Error {}

/**
 * Creates records, each together with its receipt. Group commit: creations of one iteration of the event loop, or
 * queued while earlier ones run, share a transaction. Its commit waits for the disk, and costs as much for one record
 * as for many. A transaction locks each author once, and an author is in one creation transaction of this process at a
 * time: two would conflict.
 */
export class CreationBatcher {
  readonly #connection: Connection;
  /** The authors and the unique values of running groups. */
  readonly #busyKeys = new Set<string>();
  #queue: QueuedCreation[] = [];
  /** The parts of failed groups, one for each author. */
  readonly #parts: Group[] = [];
  #isScheduled = false;
  #groups = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  create(request: CreationRequest): Promise<Creation<unknown>> {
    const unique = uniqueValuesOf(request, this.#connection.declaredFields);
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...request, unique, version: 1, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#startGroups();
      });
    });
  }

  #startGroups(): void {
    while (this.#groups < limits.concurrentCreations) {
      const group = this.#parts.shift() ?? this.#nextGroup();
      if (group.length === 0) return;
      const busy = group.flatMap(lockKeysOf);
      this.#groups += 1;
      for (const key of busy) this.#busyKeys.add(key);
      void this.#createAll(group).finally(() => {
        this.#groups -= 1;
        for (const key of busy) this.#busyKeys.delete(key);
        this.#startGroups();
      });
    }
  }

  /** Dequeues the next records whose authors and values are not in a running group. */
  #nextGroup(): QueuedCreation[] {
    const group: QueuedCreation[] = [];
    let units = 0;
    this.#queue = this.#queue.filter((creation) => {
      if (creation.call.isOver) return false; // Its caller already has an error.
      const isFull = group.length === limits.groupRecords || units > limits.groupUnits;
      if (isFull || lockKeysOf(creation).some((key) => this.#busyKeys.has(key))) return true;
      group.push(creation);
      units += creation.encoded.json.length;
      return false;
    });
    return group;
  }

  /** Settles every creation of a group; never rejects. */
  async #createAll(group: Group): Promise<void> {
    try {
      const waiting = group.filter(({ call }) => !call.isOver); // The callers of others have an error already.
      const firsts = withoutRepeats(waiting);
      if (firsts.length > 0 && !(await this.#insert(firsts))) {
        const byAuthor = Map.groupBy(waiting, ({ encoded }) => encoded.authorId);
        this.#parts.push(...byAuthor.values());
        return;
      }
      const repeats = waiting.filter((creation) => !firsts.includes(creation));
      if (repeats.length > 0) await this.#createAll(await this.#settleDuplicates(repeats));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Returns false if each author's creations must be tried on their own. */
  async #insert(group: Group): Promise<boolean> {
    const call = this.#connection.sharedCall();
    // One author's conflict with a long deletion, or validation failure, must not fail the whole group.
    const authors = new Set(group.map(({ encoded }) => encoded.authorId));
    const maxTries = authors.size > 1 ? limits.groupTries : undefined;
    const insert = (transaction: Transaction) => insertTogether(transaction, group);
    try {
      await inTransaction(this.#connection, call, insert, maxTries);
      for (const { encoded, version, resolve } of group) {
        resolve(asCreation(encoded.json, version, false));
      }
    } catch (error) {
      if (error instanceof GroupRejection) {
        const { creations, cause } = error;
        for (const { reject } of creations) reject(cause);
        const others = group.filter((creation) => !creations.includes(creation));
        await this.#createAll(await this.#settleDuplicates(others));
      } else if (error instanceof ReceiptTaken) {
        await call.backOff(1);
        await this.#createAll(await this.#settleDuplicates(group));
      } else if (
        maxTries &&
        call.outcome === 'none' &&
        (isTransient(error) || isRostrumError(error, 'refused'))
      ) {
        return false;
      } else for (const { reject } of group) reject(error);
    }
    return true;
  }

  /**
   * Settles the creations that repeat an earlier one, or whose values are taken, and returns the others. Called only for
   * repeats, and after a rejection: an insert reports just one, and this query costs a third of a creation.
   */
  async #settleDuplicates(group: Group): Promise<Group> {
    const { db } = this.#connection;
    const call = this.#connection.sharedCall();
    const found = new Map<string, Document>();
    const all = group.flatMap(({ unique }) => unique);
    const fields = Map.groupBy(all, ({ collection, path }) => `${collection} ${path}`);
    const fingerprints = group.flatMap(({ receipt }) => receipt?.fingerprint ?? []);
    // A small request can name the receipt of a large record.
    const json = { $cond: [{ $in: ['$fingerprint', { $literal: fingerprints }] }, '$json', ''] };
    const ofReceipts = { version: 1, fingerprint: 1, until: 1, json };
    const find = async (values: readonly UniqueValue[]) => {
      const [{ collection, path }] = values as [UniqueValue];
      const filter = { [path]: { $in: values.map(({ value }) => value) } };
      const projection = collection === 'receipts' ? ofReceipts : { [path]: 1 };
      const options = { projection, signal: call.timeoutSignal };
      const documents = await call.read(({ maxTimeMS }) =>
        db
          .collection(collection)
          .find(filter, { ...options, maxTimeMS })
          .toArray(),
      );
      for (const one of documents) found.set(keyOf(collection, path, valueAt(one, path)), one);
    };
    await Promise.all([...fields.values()].map(find));
    return group.filter((creation) => !settleIfDuplicate(creation, found));
  }
}

/** Returns the values of a creation that may be taken, in the order of their errors. */
function uniqueValuesOf(
  { collection, encoded, receipt, isNewId }: CreationRequest,
  declaredFields: DeclaredFields,
): UniqueValue[] {
  const values: UniqueValue[] = [];
  const add = (path: string, value: unknown, where: string = collection) => {
    if (typeof value !== 'string' && typeof value !== 'number') return;
    values.push({ collection: where, path, value, key: keyOf(where, path, value) });
  };
  if (receipt !== undefined) add('_id', receiptId(collection, receipt), 'receipts');
  if (!isNewId) add('_id', encoded.id);
  add('emailKey', encoded.fields.emailKey);
  for (const { name, isUnique } of fieldsIn(declaredFields[collection])) {
    if (isUnique) add(`custom.${name}`, encoded.fields.custom.get(name));
  }
  return values;
}

function keyOf(collection: string, path: string, value: unknown): string {
  return JSON.stringify([collection, path, value]);
}

/** Returns the creations that have no unique value of one before them. */
function withoutRepeats(group: Group): Group {
  const seen = new Set<string>();
  return group.filter(({ unique }) => {
    const isRepeat = unique.some(({ key }) => seen.has(key));
    if (!isRepeat) for (const { key } of unique) seen.add(key);
    return !isRepeat;
  });
}

/** Settles a creation that repeats an earlier one, or whose values are taken. Returns true if it did. */
function settleIfDuplicate(
  { unique, receipt, resolve, reject }: QueuedCreation,
  found: ReadonlyMap<string, Document>,
): boolean {
  try {
    for (const { collection, path, value, key } of unique) {
      const document = found.get(key);
      if (document === undefined) continue;
      if (collection !== 'receipts') throw takenError(path, value);
      const earlier = receipt && repeatedReceipt(document as StoredReceipt, receipt);
      if (earlier === undefined) continue; // Its receipt has expired.
      resolve(asCreation(earlier.json, earlier.version, true));
      return true;
    }
    return false;
  } catch (error) {
    reject(error);
    return true;
  }
}

/**
 * Inserts the records of a group and their receipts.
 *
 * @throws GroupRejection for creations that must leave the group, and ReceiptTaken
 */
async function insertTogether(transaction: Transaction, group: Group): Promise<void> {
  // A caller that times out before this attempt commits gets the outcome `none`.
  for (const { call } of group) call.outcome = 'none';
  const byCollection = Map.groupBy(group, ({ collection }) => collection);
  for (const [collection, creations] of byCollection) {
    const chosenIds = creations.filter(({ isNewId }) => !isNewId);
    const ids = chosenIds.map(({ encoded }) => encoded.id);
    const deleted = await transaction.takeTombstones(tombstoneCollections[collection], ids);
    for (const creation of chosenIds) {
      creation.version = (deleted.get(creation.encoded.id) ?? 0) + 1;
    }
  }
  const receipts = group.flatMap(({ collection, receipt, encoded, version }) =>
    receipt === undefined ? [] : receiptUpsert(collection, receipt, encoded, version),
  );
  await transaction.update('receipts', receipts).catch((error) => {
    throw isDuplicate(error) ? new ReceiptTaken() : error;
  });
  for (const [collection, creations] of byCollection) {
    const documents = creations.map(({ encoded, version }) => documentOf(encoded, version));
    await transaction.insert(collection, documents).catch((error) => {
      const faulty = error instanceof MongoServerError && creations[error.index];
      throw faulty ? new GroupRejection([faulty], constraintErrorOf(error)) : error;
    });
  }
  const unknown = await transaction.lockAuthors(group.map(({ encoded }) => encoded.authorId));
  // The last check in the order of errors, so these records have no other fault.
  const orphans = group.filter(({ encoded }) => unknown.has(encoded.authorId));
  if (orphans.length > 0) throw new GroupRejection(orphans, unknownAuthor());
  // These callers were told that nothing was changed.
  const timedOut = group.filter(({ call }) => call.isOver);
  if (timedOut.length > 0) throw new GroupRejection(timedOut, storeUnavailable('none'));
  for (const { call } of group) call.outcome = 'unknown';
}

function asCreation(json: string, version: Version, replayed: boolean): Creation<unknown> {
  return Object.assign(new VersionedRecord(json, version), { replayed });
}

/** Returns the keys that a group holds while it runs: the author and the unique values. */
function lockKeysOf({ encoded, unique }: QueuedCreation): string[] {
  const keys = unique.map(({ key }) => key);
  return encoded.authorId === null ? keys : [...keys, encoded.authorId];
}
