import { type Document, MongoServerError } from 'mongodb';
import { storeUnavailable, unknownAuthor } from '../../domain/errors.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Id,
  type Version,
  VersionedRecord,
} from '../../domain/records/record.ts';
import type { Creation } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import { type EncodedRecord, receiptFields, type StoredReceipt, versionedOf } from './documents.ts';
import { isTransient, withRecordErrors } from './errors.ts';
import { deletedCollections } from './layout.ts';
import { limits } from './limits.ts';
import { PointReads } from './point-reads.ts';
import { Semaphore } from './semaphore.ts';
import { inTransaction, type Transaction } from './transactions.ts';

/** A receipt, and the id of its document: keys belong to a collection. */
interface KeyedReceipt extends Receipt {
  readonly id: string;
}

/** A queued creation. */
interface QueuedCreation {
  readonly call: Call;
  readonly collection: Collection;
  readonly encoded: EncodedRecord;
  readonly receipt: KeyedReceipt | undefined;
  /** True if its id cannot be that of a deleted record. */
  readonly isNewId: boolean;
  resolve(creation: Creation<unknown>): void;
  reject(error: unknown): void;
}

type CreationWithReceipt = QueuedCreation & { readonly receipt: KeyedReceipt };

function hasReceipt(creation: QueuedCreation): creation is CreationWithReceipt {
  return creation.receipt !== undefined;
}

type Group = readonly QueuedCreation[];

/** Rejects creations from their group: with a reason they fail, otherwise each is tried alone. */
class GroupRejection extends Error {
  readonly creations: Group;
  readonly reason: Error | undefined;

  constructor(creations: Group, reason?: Error) {
    super('Some records must leave their group.');
    this.creations = creations;
    this.reason = reason;
  }
}

/**
 * Creates records, each together with its receipt. Creations of one iteration of the event loop,
 * or queued while earlier ones run, share a transaction: its commit waits for the disk, and costs as much
 * for one record as for many. A transaction touches each author once, and an author is in one transaction at
 * a time: two would conflict.
 */
export class Creations {
  readonly #connection: Connection;
  readonly #receipts: PointReads;
  /** Limits creations that have left their group. Not part of the limit on groups: their group waits for them. */
  readonly #aloneLimit = new Semaphore(limits.groups);
  readonly #busyAuthors = new Set<Id>();
  #queue: QueuedCreation[] = [];
  #groups = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#receipts = new PointReads(connection, 'receipts');
  }

  create(creation: Omit<QueuedCreation, 'resolve' | 'reject'>): Promise<Creation<unknown>> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...creation, resolve, reject });
      setImmediate(() => this.#startGroups());
    });
  }

  #startGroups(): void {
    while (this.#groups < limits.groups) {
      const group = this.#nextGroup();
      if (group.length === 0) return;
      const authors = authorsOf(group);
      this.#groups += 1;
      for (const id of authors) this.#busyAuthors.add(id);
      void this.#createAll(group).finally(() => {
        this.#groups -= 1;
        for (const id of authors) this.#busyAuthors.delete(id);
        this.#startGroups();
      });
    }
  }

  /** Dequeues the next records whose authors are not in a running group. */
  #nextGroup(): QueuedCreation[] {
    const group: QueuedCreation[] = [];
    let units = 0;
    this.#queue = this.#queue.filter((creation) => {
      if (creation.call.isOver) return false; // Its caller already has an error.
      const { json, authorId } = creation.encoded;
      const isFull = group.length === limits.groupRecords || units > limits.groupUnits;
      if (isFull || (authorId !== null && this.#busyAuthors.has(authorId))) return true;
      group.push(creation);
      units += json.length;
      return false;
    });
    return group;
  }

  /** Settles every creation of a group; never rejects. */
  async #createAll(group: Group): Promise<void> {
    const call = this.#connection.sharedCall();
    const alone: QueuedCreation[] = [];
    let remaining = group;
    while (remaining.length > 0) {
      const tried = remaining;
      remaining = [];
      const insert = (transaction: Transaction) =>
        insertTogether(transaction, tried, { checkReceipts: alone.length > 0 });
      // An author in conflict with a long deletion must not delay the others.
      const halves = halvesOf(tried);
      try {
        await inTransaction(this.#connection, call, insert, halves && limits.groupTries);
        for (const creation of tried) creation.resolve(created(creation, 1));
      } catch (error) {
        if (error instanceof GroupRejection) {
          remaining = tried.filter((creation) => !error.creations.includes(creation));
          if (error.reason === undefined) alone.push(...error.creations);
          else for (const { reject } of error.creations) reject(error.reason);
        } else if (halves && call.outcome === 'none' && isTransient(error)) {
          await Promise.all(halves.map((half) => this.#createAll(half)));
        } else for (const { reject } of tried) reject(error);
      }
    }
    await Promise.all(alone.map((creation) => this.#createAlone(creation)));
  }

  /** Settles a creation; never rejects. */
  async #createAlone(creation: QueuedCreation): Promise<void> {
    const { call } = creation;
    const insert = (transaction: Transaction) => insertAlone(transaction, creation);
    try {
      for (;;) {
        const earlier = await this.#earlier(creation);
        if (earlier !== undefined) return creation.resolve(earlier);
        const version = await this.#aloneLimit.use(1, () =>
          inTransaction(this.#connection, call, insert),
        );
        if (version !== undefined) return creation.resolve(created(creation, version));
        // Its receipt exists, but a majority may not have it yet.
        await call.pause();
      }
    } catch (error) {
      creation.reject(error);
    }
  }

  /** Returns the record that an earlier call created under the same receipt. */
  async #earlier({ call, receipt }: QueuedCreation): Promise<Creation<unknown> | undefined> {
    if (receipt === undefined) return undefined;
    const stored = await this.#receipts.read<StoredReceipt>(call, receipt.id);
    const earlier = repeatedReceipt(stored, receipt);
    return earlier && Object.assign(versionedOf(earlier), { replayed: true });
  }
}

/**
 * Creates the records of a group.
 *
 * @param options `checkReceipts` looks for all used idempotency keys first: an insert reports only one duplicate
 * @throws GroupRejection for creations that must leave the group
 */
async function insertTogether(
  transaction: Transaction,
  creations: Group,
  { checkReceipts }: { readonly checkReceipts: boolean },
): Promise<void> {
  // A caller whose time ends before the commit of this try is told that nothing was changed.
  for (const { call } of creations) call.outcome = 'none';
  const byCollection = Map.groupBy(creations, ({ collection }) => collection);
  for (const [collection, members] of byCollection) {
    const others = members.filter(({ isNewId }) => !isNewId);
    await rejectExisting(
      transaction,
      deletedCollections[collection],
      others,
      ({ encoded }) => encoded.id,
    );
  }
  const withReceipt = creations.filter(hasReceipt);
  if (checkReceipts) {
    await rejectExisting(transaction, 'receipts', withReceipt, ({ receipt }) => receipt.id);
  }
  const receipts = withReceipt.map((creation) => receiptOf(creation));
  await insertAll(transaction, 'receipts', receipts, withReceipt);
  for (const [collection, members] of byCollection) {
    const documents = members.map((creation) => documentOf(creation));
    await insertAll(transaction, collection, documents, members);
  }
  const unknown = await transaction.touchAuthors(authorsOf(creations));
  // The last check in the order of errors, so these records have no other fault.
  rejectFrom(creations, ({ encoded }) => unknown.has(encoded.authorId), unknownAuthor);
  // These callers were told that nothing was changed.
  rejectFrom(creations, ({ call }) => call.isOver, outOfTime);
  for (const { call } of creations) call.outcome = 'unknown';
}

const outOfTime = () => storeUnavailable('none');

function rejectFrom<C extends QueuedCreation>(
  group: readonly C[],
  isFault: (creation: C) => boolean,
  reason?: () => Error,
) {
  const faults = group.filter(isFault);
  if (faults.length > 0) throw new GroupRejection(faults, reason?.());
}

async function rejectExisting<C extends QueuedCreation>(
  transaction: Transaction,
  collection: string,
  creations: readonly C[],
  idOf: (creation: C) => string,
): Promise<void> {
  if (creations.length === 0) return;
  const found = await transaction.find(collection, { _id: { $in: creations.map(idOf) } });
  const ids = new Set(found.map(({ _id }) => _id));
  rejectFrom(creations, (creation) => ids.has(idOf(creation)));
}

async function insertAll(
  transaction: Transaction,
  collection: string,
  documents: readonly Document[],
  creations: Group,
): Promise<void> {
  try {
    await transaction.insert(collection, documents);
  } catch (error) {
    const fault = error instanceof MongoServerError && creations[error.index];
    throw fault ? new GroupRejection([fault]) : error;
  }
}

/**
 * Creates one record. Checks every possible conflict, in the order of errors.
 *
 * @returns the version that it is created at; undefined if there is a valid receipt with its key
 */
async function insertAlone(
  transaction: Transaction,
  creation: QueuedCreation,
): Promise<Version | undefined> {
  const { collection } = creation;
  const { id, authorId } = creation.encoded;
  const [deleted] = await transaction.find(
    deletedCollections[collection],
    { _id: id },
    { last: 1 },
  );
  const version = Number(deleted?.last ?? 0) + 1;
  if (hasReceipt(creation)) {
    const { receipt } = creation;
    const key = { _id: receipt.id };
    const [stored] = await transaction.find('receipts', key, { until: 1 });
    if (stored !== undefined && stored.until > receipt.from) return undefined;
    await transaction.update('receipts', [
      { q: key, u: receiptOf(creation, version), upsert: true },
    ]);
  }
  await withRecordErrors(transaction.insert(collection, [documentOf(creation, version)]));
  if (deleted !== undefined) await transaction.delete(deletedCollections[collection], { _id: id });
  if ((await transaction.touchAuthors([authorId])).size > 0) throw unknownAuthor();
  return version;
}

function documentOf({ encoded }: QueuedCreation, version = 1): Document {
  return { _id: encoded.id, version, ...encoded.fields };
}

function receiptOf({ receipt, encoded }: CreationWithReceipt, version = 1): Document {
  return { _id: receipt.id, version, ...receiptFields(receipt, encoded) };
}

function created({ encoded }: QueuedCreation, version: Version): Creation<unknown> {
  return Object.assign(new VersionedRecord(encoded.json, version), { replayed: false });
}

function authorsOf(creations: Group): Set<Id> {
  return new Set(creations.flatMap(({ encoded }) => encoded.authorId ?? []));
}

/** Splits a group, but never the posts of one author; undefined if it cannot be split. */
function halvesOf(creations: Group): Group[] | undefined {
  const authors = [...new Set(creations.map(({ encoded }) => encoded.authorId))];
  const first = new Set(authors.slice(0, authors.length / 2));
  const halves = Map.groupBy(creations, ({ encoded }) => first.has(encoded.authorId));
  return halves.size > 1 ? [...halves.values()] : undefined;
}
