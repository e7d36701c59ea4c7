import type { Document } from 'mongodb';
import { RostrumError, unknownAuthor } from '../../domain/errors.ts';
import type { Receipt } from '../../domain/receipt.ts';
import { type Collection, type Id, type Version, VersionedRecord } from '../../domain/record.ts';
import type { Creation } from '../../ports/repository.ts';
import type { Call } from './call.ts';
import type { Connection } from './connection.ts';
import {
  type Draft,
  receiptDocument,
  receiptId,
  type StoredReceipt,
  versionedOf,
} from './documents.ts';
import { isTransient, keyOf, Rejected, rejectionOf } from './errors.ts';
import { deletedIds, receiptCollection } from './layout.ts';
import { limits } from './limits.ts';
import { PointReads } from './point-reads.ts';
import { inTransaction, type Transaction } from './transactions.ts';

/** A record that waits to be created. */
interface Waiting {
  readonly collection: Collection;
  readonly draft: Draft;
  readonly receipt: Receipt | undefined;
  readonly call: Call;
  resolve(creation: Creation<unknown>): void;
  reject(error: unknown): void;
}

/** Creations that have to be left out of a group: to be tried alone, or with an error, rejected. */
class Faults extends Error {
  readonly creations: ReadonlySet<Waiting>;
  readonly error: Error | undefined;

  constructor(creations: readonly Waiting[], error?: Error) {
    super('Some records cannot be created together with others.');
    this.creations = new Set(creations);
    this.error = error;
  }
}

/**
 * Creates records, each together with its receipt. Those that are asked for in one tick of the event loop,
 * or while earlier ones are under way, share a transaction: its commit waits for the disk, and costs as much
 * for one record as for many. Each transaction touches an author once, and an author is in one transaction
 * at a time: two would conflict.
 */
export class Creations {
  readonly #connection: Connection;
  readonly #receipts: PointReads;
  readonly #busyAuthors = new Set<Id>();
  #waiting: Waiting[] = [];
  #groups = 0;
  #isScheduled = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#receipts = new PointReads(connection, receiptCollection);
  }

  create<R>(call: Call, collection: Collection, draft: Draft, receipt?: Receipt) {
    return new Promise<Creation<R>>((resolve, reject) => {
      const settle = resolve as (creation: Creation<unknown>) => void;
      this.#waiting.push({ collection, draft, receipt, call, resolve: settle, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startGroups();
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
        this.#schedule();
      });
    }
  }

  /** Takes the next records whose authors are not in a group under way. */
  #nextGroup(): Waiting[] {
    const group: Waiting[] = [];
    const others: Waiting[] = [];
    let bytes = 0;
    for (const one of this.#waiting) {
      if (one.call.isOver) continue;
      const { json, authorId } = one.draft;
      const isFull = group.length === limits.groupRecords || bytes > limits.groupBytes;
      if (isFull || (authorId !== null && this.#busyAuthors.has(authorId))) {
        others.push(one);
        continue;
      }
      group.push(one);
      bytes += json.length;
      one.call.outcome = 'unknown';
    }
    this.#waiting = others;
    return group;
  }

  /** Settles every creation of a group; never rejects. */
  async #createAll(group: readonly Waiting[]): Promise<void> {
    const call = this.#connection.sharedCall();
    const alone: Waiting[] = [];
    let together = group;
    while (together.length > 0) {
      const attempt = { creations: together, checkReceipts: alone.length > 0 };
      const insert = (transaction: Transaction) => insertTogether(transaction, attempt);
      const halves = halvesOf(together);
      // One author in conflict with a long deletion must not hold up the others.
      const tries = halves && limits.groupTries;
      try {
        await inTransaction(this.#connection, call, insert, tries);
        for (const one of together) one.resolve(created(one, 1));
        break;
      } catch (error) {
        if (error instanceof Faults) {
          if (error.error) for (const { reject } of error.creations) reject(error.error);
          else alone.push(...error.creations);
          together = together.filter((one) => !error.creations.has(one));
        } else {
          if (halves && isTransient(error))
            await Promise.all(halves.map((half) => this.#createAll(half)));
          else for (const { reject } of together) reject(error);
          break;
        }
      }
    }
    await this.#createEachAlone(alone);
  }

  async #createEachAlone(creations: readonly Waiting[]): Promise<void> {
    // Retries under known keys often come together, so their receipts are read together.
    const earlier = await Promise.allSettled(creations.map((one) => this.#earlier(one)));
    for (const [n, one] of creations.entries()) {
      one.call.outcome = 'none';
      try {
        const read = earlier[n];
        if (read?.status === 'rejected') throw read.reason;
        one.resolve(read?.value ?? (await this.#createAlone(one)));
      } catch (error) {
        one.reject(error);
      }
    }
  }

  async #createAlone(one: Waiting): Promise<Creation<unknown>> {
    for (;;) {
      const insert = (transaction: Transaction) => insertAlone(transaction, one);
      const version = await inTransaction(this.#connection, one.call, insert);
      if (version !== undefined) return created(one, version);
      // Its receipt is there, but perhaps not yet on a majority.
      const earlier = await this.#earlier(one);
      if (earlier !== undefined) return earlier;
      await one.call.pause();
    }
  }

  /**
   * Returns what was created under the receipt of a creation; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  async #earlier({ collection, call, receipt }: Waiting): Promise<Creation<unknown> | undefined> {
    if (receipt === undefined) return undefined;
    const id = receiptId(collection, receipt);
    const stored = await this.#receipts.read<StoredReceipt>(call, id);
    if (stored === undefined || stored.until <= receipt.from) return undefined;
    if (stored.fingerprint !== receipt.fingerprint) {
      throw new RostrumError('idempotency-key-reused', {});
    }
    return Object.assign(versionedOf(stored), { replayed: true });
  }
}

interface Attempt {
  readonly creations: readonly Waiting[];
  /** Whether to look for receipts that are there, and not only for the first one that conflicts. */
  readonly checkReceipts: boolean;
}

/** @throws Faults for records that have to be created alone */
async function insertTogether(
  transaction: Transaction,
  { creations, checkReceipts }: Attempt,
): Promise<void> {
  const some = Map.groupBy(creations, ({ collection }) => collection);
  for (const [collection, group] of some) {
    await checkNone(transaction, deletedIds[collection], group, ({ draft }) => draft.id);
  }
  const withReceipt = creations.filter(({ receipt }) => receipt !== undefined);
  if (checkReceipts) await checkNone(transaction, receiptCollection, withReceipt, receiptKey);
  await insertAll(transaction, receiptCollection, withReceipt, (one) => receiptOf(one, 1));
  for (const [collection, group] of [...some].toSorted()) {
    await insertAll(transaction, collection, group, ({ draft }) => documentOf(draft, 1));
  }
  // The last of errors, so these records are to blame for nothing else.
  const unknown = new Set<Id | null>(await transaction.touchAuthors(authorsOf(creations)));
  if (unknown.size === 0) return;
  throw new Faults(
    creations.filter(({ draft }) => unknown.has(draft.authorId)),
    unknownAuthor(),
  );
}

async function checkNone(
  transaction: Transaction,
  collection: string,
  creations: readonly Waiting[],
  idOf: (one: Waiting) => string,
): Promise<void> {
  if (creations.length === 0) return;
  const found = await transaction.find(collection, { _id: { $in: creations.map(idOf) } });
  const ids = new Set(found.map(({ _id }) => _id));
  if (ids.size > 0) throw new Faults(creations.filter((one) => ids.has(idOf(one))));
}

async function insertAll(
  transaction: Transaction,
  collection: string,
  creations: readonly Waiting[],
  toDocument: (one: Waiting) => Document,
): Promise<void> {
  try {
    await transaction.insert(collection, creations.map(toDocument));
  } catch (error) {
    const fault = error instanceof Rejected && creations[error.index];
    throw fault ? new Faults([fault]) : error;
  }
}

/**
 * Creates one record by the book: looks for all that could be in its way, in the order of errors.
 *
 * @returns the version that it is created at; undefined when there is a valid receipt with its key
 */
async function insertAlone(transaction: Transaction, one: Waiting): Promise<Version | undefined> {
  const { collection, draft, receipt } = one;
  const { id, authorId } = draft;
  const [gone] = await transaction.find(deletedIds[collection], { _id: id }, { last: 1 });
  const version = Number(gone?.last ?? 0) + 1;
  if (receipt !== undefined) {
    const key = { _id: receiptKey(one) };
    const [stored] = await transaction.find(receiptCollection, key, { until: 1 });
    if (stored !== undefined && stored.until > receipt.from) return undefined;
    const put = { q: key, u: receiptOf(one, version), upsert: true };
    await transaction.update(receiptCollection, [put]);
  }
  try {
    await transaction.insert(collection, [documentOf(draft, version)]);
  } catch (error) {
    const isTaken = error instanceof Rejected && keyOf(error.cause) === '_id';
    throw isTaken ? new RostrumError('id-taken', { id }) : rejectionOf(error);
  }
  if (gone !== undefined) await transaction.delete(deletedIds[collection], { _id: id });
  const unknown = await transaction.touchAuthors(authorId === null ? [] : [authorId]);
  if (unknown.length > 0) throw unknownAuthor();
  return version;
}

function documentOf({ id, fields }: Draft, version: Version): Document {
  return { _id: id, version, ...fields };
}

function receiptOf({ collection, receipt, draft }: Waiting, version: Version): Document {
  return receiptDocument(collection, receipt as Receipt, draft, version);
}

function receiptKey({ collection, receipt }: Waiting): string {
  return receiptId(collection, receipt as Receipt);
}

function created({ draft }: Waiting, version: Version): Creation<unknown> {
  return Object.assign(new VersionedRecord(draft.json, version), { replayed: false });
}

function authorsOf(creations: readonly Waiting[]): Set<Id> {
  return new Set(creations.flatMap(({ draft }) => draft.authorId ?? []));
}

/** Splits a group, but never the posts of one author; undefined when it cannot be split. */
function halvesOf(creations: readonly Waiting[]): [Waiting[], Waiting[]] | undefined {
  const authors = [...new Set(creations.map(({ draft }) => draft.authorId))];
  if (authors.length === 1) return undefined;
  const first = new Set(authors.slice(0, authors.length / 2));
  const [some = [], others = []] = [true, false].map((isFirst) =>
    creations.filter(({ draft }) => first.has(draft.authorId) === isFirst),
  );
  return [some, others];
}
