import type { Collection, Filter as Query } from 'mongodb';
import { emailTaken, isRostrumError, RostrumError } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import type { Page, PageRequest } from '../../domain/list.ts';
import type { Receipt } from '../../domain/receipt.ts';
import { type Entity, type Id, type Versioned, VersionedRecord } from '../../domain/record.ts';
import type { Creation, Decide, Repository } from '../../ports/repository.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { DuplicateKey } from './connection/errors.ts';
import { Inserts } from './inserts.ts';
import type { Resource } from './lists/conditions.ts';
import { Lists } from './lists/lists.ts';
import { PointReads } from './point-reads.ts';
import { hasReceipts, Receipts, replacing, toStoredReceipt } from './receipts.ts';
import {
  firstVersion,
  type ReadDocument,
  type StoredRecord,
  toVersioned,
} from './schema/documents.ts';

/** All but other records: a receipt may hold one, as large as the document's own. */
const projection = { 'claims.first': 0 };

/** What users and posts have in common: reading, and the frame of every change. */
export abstract class MongodbRepository<
  R extends Entity,
  D extends StoredRecord,
  Filter extends object,
  Sort extends string,
> implements Repository<R, Filter, Sort>
{
  protected readonly connection: Connection;
  protected readonly collection: Collection<D>;
  protected readonly inserts: Inserts<D>;
  readonly #receipts: Receipts<R, D>;
  readonly #lists: Lists<R, D, Filter, Sort>;
  readonly #pointReads: PointReads<D>;

  constructor(
    connection: Connection,
    collection: Collection<D>,
    resource: Resource<Filter, Sort>,
    outwait: (call: Call, id: Id) => Promise<void>,
  ) {
    this.connection = connection;
    this.collection = collection;
    this.inserts = new Inserts(connection, collection);
    this.#receipts = new Receipts(collection, outwait);
    this.#lists = new Lists(connection, collection, resource);
    this.#pointReads = new PointReads(connection, collection, projection);
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return this.connection.call(async (call) => {
      const found = await this.#read(call, id);
      if (found?.stored.version === undefined || found.json === '') return undefined;
      return new VersionedRecord<R>(found.json, found.stored.version);
    });
  }

  async list({ signal, ...request }: PageRequest<Filter, Sort>): Promise<Page<R>> {
    const asked = copyJson(request);
    return this.connection.call((call) => this.#lists.list(call, asked), signal);
  }

  /** The record is inserted first: only when that fails, the receipt is looked at. */
  async create(given: R, under?: Receipt): Promise<Creation<R>> {
    const [record, receipt] = [copyJson(given), under && { ...under }];
    return this.connection.call(async (call) => {
      for (let attempt = 0; ; attempt++) {
        try {
          const claims = receipt && [toStoredReceipt(receipt)];
          const stored = { ...this.toStored(record, firstVersion), ...(claims && { claims }) };
          const made = new VersionedRecord(record, firstVersion);
          if (await this.insert(call, stored, record, made.json.length)) {
            return Object.assign(made, { replayed: false });
          }
        } catch (error) {
          if (isRostrumError(error, 'store-unavailable')) throw error;
          const made = receipt && (await this.#receipts.settle(call, receipt));
          if (made !== undefined) return Object.assign(made, { replayed: true });
          // A receipt that was outlived and is freed now, or one that no majority has yet.
          const isInTheWay =
            error instanceof DuplicateKey &&
            (error.field === 'claims.key' ||
              (receipt && (await this.#receipts.isTaken(call, receipt))));
          if (!isInTheWay) throw conflictOf(error, record.id);
        }
        await call.pause(attempt);
      }
    });
  }

  async isIdTaken(id: Id): Promise<boolean> {
    if (!id.isWellFormed()) return false;
    return this.connection.call(async (call) => {
      const named = { _id: id, pending: { $exists: false } } as Query<D>;
      const found = await call.read((bounds) =>
        this.collection.findOne(named, { projection: { _id: 1 }, ...bounds }),
      );
      return found !== null;
    });
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.connection.call((call) =>
      this.change(call, id, async (stored, current) => {
        const decided = decide(current);
        // Not what was shown: that may have been changed.
        if (decided === current.record) return versionedOf<R>(stored);
        const next = new VersionedRecord(copyJson(decided), current.version + 1);
        const isPut = await this.replace(call, stored, next).catch((error: unknown) => {
          throw conflictOf(error, id);
        });
        return isPut ? next : undefined;
      }),
    );
  }

  /**
   * Makes a change of what is stored, if that still is what is stored when it is made; else tries again.
   *
   * @param attempt undefined when it has to be tried again
   * @returns undefined when there is no record with this id
   */
  protected async change<T>(
    call: Call,
    id: Id,
    attempt: (stored: D, current: Versioned<R>) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (let n = 0; ; n++) {
      const stored = (await this.#read(call, id))?.stored as D | undefined;
      const current = versionedOf<R>(stored);
      if (stored === undefined || current === undefined) return undefined;
      if (await this.isHeld(call, stored, n)) continue;
      const changed = await attempt(stored, current);
      if (changed !== undefined) return changed;
      await call.pause(n);
    }
  }

  protected abstract toStored(record: R, version: number): D;

  /**
   * Inserts a new record, of so many characters as JSON. False when it has to be tried again.
   */
  protected abstract insert(call: Call, stored: D, record: R, characters: number): Promise<boolean>;

  /** Replaces a record. False when it is not as it was read any more. */
  protected abstract replace(call: Call, stored: D, next: Versioned<R>): Promise<boolean>;

  /** Waits a moment, and returns true, while another call is about to delete the record. */
  protected async isHeld(_call: Call, _stored: D, _attempt: number): Promise<boolean> {
    return false;
  }

  /** The document with an id; what readers do not see has no record. No caller may change it. */
  async #read(call: Call, id: Id): Promise<ReadDocument | undefined> {
    return id.isWellFormed() ? call.read(() => this.#pointReads.read(id)) : undefined;
  }

  /** Puts a document in the place of one that was read. False when the filter does not hold. */
  protected async put(call: Call, stored: D, filter: object, document: D): Promise<boolean> {
    const { matchedCount } = await call.commit('put', (bounds) =>
      hasReceipts(stored)
        ? this.collection.updateOne(filter as Query<D>, replacing(document), bounds)
        : this.collection.replaceOne(filter as Query<D>, document, bounds),
    );
    return matchedCount === 1;
  }
}

function versionedOf<R extends Entity>(stored: StoredRecord | undefined): Versioned<R> | undefined {
  if (stored?.record === undefined || stored.version === undefined) return undefined;
  return toVersioned<R>(stored.record, stored.version);
}

/** The error of a key that another record has. */
function conflictOf(error: unknown, id: Id): unknown {
  if (!(error instanceof DuplicateKey)) return error;
  if (error.field === '_id') return new RostrumError('id-taken', { id });
  return error.field === 'emailKey' ? emailTaken() : error;
}
