import { MongoServerError } from 'mongodb';
import {
  emailTaken,
  fieldTaken,
  RostrumError,
  storeUnavailable,
  unknownAuthor,
} from '../../domain/errors.ts';
import {
  type DeclaredFields,
  type FieldDeclarations,
  fieldsIn,
} from '../../domain/fields/declared-fields.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Id,
  type Version,
  VersionedRecord,
} from '../../domain/records/record.ts';
import type { Creation } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import { tombstoneCollections } from './collections.ts';
import type { Connection } from './connection.ts';
import {
  decode,
  documentOf,
  type EncodedRecord,
  pathOf,
  receiptId,
  receiptOf,
  type StoredReceipt,
  valueAt,
} from './documents.ts';
import { isDuplicate, isTransient, rejectionOf } from './errors.ts';
import { limits } from './limits.ts';
import { type Key, PointReads } from './point-reads.ts';
import { inTransaction, type Transaction } from './transactions.ts';

/** What a repository asks for. */
interface CreationRequest {
  readonly call: Call;
  readonly collection: Collection;
  readonly encoded: EncodedRecord;
  readonly receipt: Receipt | undefined;
  /** True if its id cannot be that of another record, or of a deleted one. */
  readonly isNewId: boolean;
}

/** A queued creation. */
interface QueuedCreation extends CreationRequest {
  /** Lookups of what may be stored already, in the order of their errors. */
  readonly lookups: readonly Lookup[];
  /** True if an expired receipt has its key. */
  replacesReceipt: boolean;
  resolve(creation: Creation<unknown>): void;
  reject(error: unknown): void;
}

interface Lookup {
  readonly reads: Pick<PointReads<unknown>, 'readAll'>;
  readonly key: Key;
  /** Returns the creation that this one repeats, or throws if a value is taken. */
  readonly settle: (found: unknown, creation: QueuedCreation) => Creation<unknown> | undefined;
}

/** A field whose value may be taken. */
interface UniqueField {
  readonly path: string;
  readonly reads: PointReads<true>;
  readonly taken: (id: Id) => RostrumError;
}

type Group = readonly QueuedCreation[];

/** Ends the transaction of a group: these creations fail, and the others are checked and tried again. */
class GroupRejection extends Error {
  readonly creations: Group;
  readonly reason: unknown;

  constructor(creations: Group, reason: unknown) {
    super('Some creations must leave their group.');
    this.creations = creations;
    this.reason = reason;
  }
}

/**
 * Creates records, each together with its receipt. Group commit: creations of one iteration of the event loop, or
 * queued while earlier ones run, share a transaction. Its commit waits for the disk, and costs as much for one record
 * as for many. A transaction locks each author once, and an author is in one transaction at a time: two would conflict.
 */
export class CreationBatcher {
  readonly #connection: Connection;
  readonly #receipts: PointReads<StoredReceipt>;
  readonly #uniqueFields: Readonly<Record<Collection, readonly UniqueField[]>>;
  readonly #busyAuthors = new Set<Id>();
  /**
   * True while groups look up what is stored already before they insert: from one with a rejected record to one that
   * finds nothing. An insert reports only one duplicate, but the lookups cost a third of a creation.
   */
  #looksUpFirst = false;
  #queue: QueuedCreation[] = [];
  #groups = 0;

  constructor(connection: Connection, { users, posts }: DeclaredFields = {}) {
    this.#connection = connection;
    this.#receipts = new PointReads(connection, {
      ...{ collection: 'receipts', path: '_id' },
      decode(document) {
        const receipt = decode(document) as StoredReceipt;
        return [receipt._id, receipt];
      },
    });
    this.#uniqueFields = {
      users: uniqueFieldsOf(connection, 'users', users),
      posts: uniqueFieldsOf(connection, 'posts', posts),
    };
  }

  create(request: CreationRequest): Promise<Creation<unknown>> {
    return new Promise((resolve, reject) => {
      const lookups = this.#lookupsOf(request);
      this.#queue.push({ ...request, lookups, replacesReceipt: false, resolve, reject });
      setImmediate(() => this.#startGroups());
    });
  }

  #lookupsOf({ collection, encoded, receipt, isNewId }: CreationRequest): Lookup[] {
    const lookups: Lookup[] = [];
    if (receipt !== undefined) {
      const settle = (found: unknown, creation: QueuedCreation) => {
        const earlier = repeatedReceipt(found as StoredReceipt, receipt);
        if (earlier !== undefined) return asCreation(earlier, true);
        creation.replacesReceipt = true;
        return undefined;
      };
      lookups.push({ reads: this.#receipts, key: receiptId(collection, receipt), settle });
    }
    for (const { path, reads, taken } of this.#uniqueFields[collection]) {
      const isId = path === '_id';
      const value = isId ? !isNewId && encoded.id : valueAt(encoded.fields, path);
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const settle = () => {
        throw taken(encoded.id);
      };
      lookups.push({ reads, key: value, settle });
    }
    return lookups;
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
    try {
      const unsettled = this.#looksUpFirst ? await this.#settleKnown(group) : group;
      const [firsts, repeats] = withoutRepeats(unsettled);
      if (repeats.length > 0) this.#looksUpFirst = true;
      if (firsts.length > 0) await this.#insert(firsts);
      if (repeats.length > 0) await this.#createAll(repeats);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Settles the creations that repeat an earlier one, or whose values are taken. Returns the others. */
  async #settleKnown(group: Group): Promise<Group> {
    const all = group.flatMap(({ lookups }) => lookups);
    if (all.length === 0) return group;
    const call = this.#connection.sharedCall();
    const found = new Map<Lookup, unknown>();
    await Promise.all(
      [...Map.groupBy(all, ({ reads }) => reads)].map(async ([reads, lookups]) => {
        const keys = lookups.map(({ key }) => key);
        const values = await reads.readAll(call, keys);
        for (const [n, lookup] of lookups.entries()) found.set(lookup, values[n]);
      }),
    );
    const unsettled = group.filter((creation) => {
      try {
        for (const lookup of creation.lookups) {
          const stored = found.get(lookup);
          const earlier = stored === undefined ? undefined : lookup.settle(stored, creation);
          if (earlier === undefined) continue;
          creation.resolve(earlier);
          return false;
        }
        return true;
      } catch (error) {
        creation.reject(error);
        return false;
      }
    });
    this.#looksUpFirst = unsettled.length < group.length;
    return unsettled;
  }

  async #insert(group: Group): Promise<void> {
    const call = this.#connection.sharedCall();
    // An author in conflict with a long deletion must not delay the others.
    const parts = [...Map.groupBy(group, ({ encoded }) => encoded.authorId).values()];
    const maxTries = parts.length > 1 ? limits.groupTries : undefined;
    const insert = (transaction: Transaction) => insertTogether(transaction, group);
    try {
      const versions = await inTransaction(this.#connection, call, insert, maxTries);
      for (const creation of group) {
        const version = versions.get(creation) ?? 1;
        creation.resolve(asCreation({ json: creation.encoded.json, version }, false));
      }
    } catch (error) {
      if (error instanceof GroupRejection) {
        const { creations, reason } = error;
        this.#looksUpFirst = true;
        for (const { reject } of creations) reject(reason);
        // A majority may not have the receipt yet.
        if (creations.length === 0) await call.pause();
        await this.#createAll(group.filter((creation) => !creations.includes(creation)));
      } else if (maxTries !== undefined && call.outcome === 'none' && isTransient(error)) {
        await Promise.all(parts.map((part) => this.#createAll(part)));
      } else for (const { reject } of group) reject(error);
    }
  }
}

function uniqueFieldsOf(
  connection: Connection,
  collection: Collection,
  declared?: FieldDeclarations,
): UniqueField[] {
  const unique = (path: string, taken: UniqueField['taken']): UniqueField => ({
    ...{ path, taken },
    reads: new PointReads(connection, {
      ...{ collection, path, projection: { [path]: 1 } },
      decode: (document) => [valueAt(decode(document), path) as Key, true],
    }),
  });
  const fields = fieldsIn(declared).filter(({ isUnique }) => isUnique);
  return [
    unique('_id', (id) => new RostrumError('id-taken', { id })),
    ...(collection === 'users' ? [unique('emailKey', emailTaken)] : []),
    ...fields.map(({ name, type }) =>
      unique(pathOf({ field: name, declaredType: type }), () => fieldTaken(name)),
    ),
  ];
}

/** Splits off the creations that have a receipt or a unique value of one before them. */
function withoutRepeats(group: Group): [firsts: Group, repeats: Group] {
  const seen = new Map<Lookup['reads'], Set<Key>>();
  const isRepeat = ({ lookups }: QueuedCreation) => {
    if (lookups.some(({ reads, key }) => seen.get(reads)?.has(key))) return true;
    for (const { reads, key } of lookups) {
      const keys = seen.get(reads) ?? new Set();
      seen.set(reads, keys.add(key));
    }
    return false;
  };
  const repeats = group.filter(isRepeat);
  return [group.filter((creation) => !repeats.includes(creation)), repeats];
}

/**
 * Inserts the records of a group and their receipts.
 *
 * @returns the versions of records that do not start at version 1
 * @throws GroupRejection for creations that must leave the group
 */
async function insertTogether(
  transaction: Transaction,
  group: Group,
): Promise<ReadonlyMap<QueuedCreation, Version>> {
  // A caller that times out before this attempt commits gets the outcome `none`.
  for (const { call } of group) call.outcome = 'none';
  const versions = new Map<QueuedCreation, Version>();
  const byCollection = Map.groupBy(group, ({ collection }) => collection);
  for (const [collection, creations] of byCollection) {
    const known = creations.filter(({ isNewId }) => !isNewId);
    const ids = known.map(({ encoded }) => encoded.id);
    const deleted = await transaction.takeTombstones(tombstoneCollections[collection], ids);
    for (const creation of known) {
      versions.set(creation, (deleted.get(creation.encoded.id) ?? 0) + 1);
    }
  }
  const asDocument = (creation: QueuedCreation) =>
    documentOf(creation.encoded, versions.get(creation) ?? 1);
  const replaced = group.flatMap(({ collection, receipt, replacesReceipt }) => {
    if (receipt === undefined || !replacesReceipt) return [];
    return { _id: receiptId(collection, receipt), until: { $lte: receipt.from } };
  });
  if (replaced.length > 0) await transaction.delete('receipts', { $or: replaced });
  const receipts = group.flatMap((creation) => {
    const { collection, receipt, encoded } = creation;
    if (receipt === undefined) return [];
    return receiptOf(collection, receipt, encoded, versions.get(creation) ?? 1);
  });
  await transaction.insert('receipts', receipts).catch((error) => {
    // Another process has stored one of them since, so all are checked again.
    throw isDuplicate(error) ? new GroupRejection([], undefined) : error;
  });
  for (const [collection, creations] of byCollection) {
    const inserted = transaction.insert(collection, creations.map(asDocument));
    await inserted.catch((error) => {
      const faulty = error instanceof MongoServerError && creations[error.index];
      throw faulty ? new GroupRejection([faulty], rejectionOf(error)) : error;
    });
  }
  const unknown = await transaction.lockAuthors(authorsOf(group));
  // The last check in the order of errors, so these records have no other fault.
  rejectFrom(group, ({ encoded }) => unknown.has(encoded.authorId), unknownAuthor);
  // These callers were told that nothing was changed.
  rejectFrom(
    group,
    ({ call }) => call.isOver,
    () => storeUnavailable('none'),
  );
  for (const { call } of group) call.outcome = 'unknown';
  return versions;
}

function rejectFrom(
  group: Group,
  isFaulty: (creation: QueuedCreation) => boolean,
  reason: () => Error,
) {
  const faulty = group.filter(isFaulty);
  if (faulty.length > 0) throw new GroupRejection(faulty, reason());
}

function asCreation(
  { json, version }: Pick<StoredReceipt, 'json' | 'version'>,
  replayed: boolean,
): Creation<unknown> {
  return Object.assign(new VersionedRecord(json, version), { replayed });
}

function authorsOf(group: Group): Set<Id> {
  return new Set(group.flatMap(({ encoded }) => encoded.authorId ?? []));
}
