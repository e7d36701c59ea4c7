import { customEqualities } from '../../domain/custom-filters.ts';
import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import type { EntityFilter, Page, PageRequest, TimeSpan } from '../../domain/list.ts';
import type { Receipt } from '../../domain/receipt.ts';
import {
  type EntityFields,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import type { Creation, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { RecordTransfer, ScanRequest } from '../../ports/transfer.ts';
import type { Row, Table } from './table.ts';

/** Whether the store is open. Nothing is ever under way when it closes: all is synchronous. */
export interface Lifetime {
  closed: boolean;
}

interface StoredReceipt {
  readonly fingerprint: string;
  readonly until: string;
  /** The record as it was first made. */
  readonly json: string;
}

/**
 * What users and posts have in common. Every method does its work in one go, before it first
 * returns to its caller: that makes it atomic.
 */
export abstract class MemoryRepository<
  R extends EntityFields,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Sort>, RecordTransfer<R>
{
  readonly #lifetime: Lifetime;
  protected readonly table: Table;
  readonly #receipts = new Map<string, StoredReceipt>();

  constructor(lifetime: Lifetime, table: Table) {
    this.#lifetime = lifetime;
    this.table = table;
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    return this.shown(this.find(id));
  }

  async list(request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    this.#check();
    const { filter, total } = request;
    const matches = this.#matcher(filter);
    const { items, next } = this.table.page(matches, request);
    return {
      items: items.map((row) => this.shown(row)),
      next,
      ...(total && { total: this.table.filter(matches).length }),
    };
  }

  async create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    this.#check();
    const earlier = receipt && this.#earlierOf(receipt);
    if (earlier !== undefined) return creation(earlier, true);
    if (this.table.isIdTaken(record.id)) throw new RostrumError('id-taken', { id: record.id });
    const { json } = this.#put(record, 1);
    if (receipt !== undefined) this.#receipt(receipt, json);
    return creation(json, false);
  }

  async isIdTaken(id: Id): Promise<boolean> {
    this.#check();
    return this.table.isIdTaken(id);
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    const current = this.shown(this.find(id));
    const next = current && decide(current);
    if (current === undefined || next === undefined || next === current.record) {
      return this.shown(this.table.get(id));
    }
    return this.shown(this.#put(next, current.version + 1));
  }

  async scan({ limit, bytes, after }: ScanRequest): Promise<readonly Versioned<R>[]> {
    this.#check();
    const behind = after === undefined ? undefined : { key: null, id: after };
    const order = { by: 'id', direction: 'asc' } as const;
    const { items } = this.table.page(() => true, { order, limit, bytes, after: behind });
    return items.map((row) => this.shown(row));
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    this.#check();
    for (const { record, version } of records) this.#put(record, version);
  }

  /** Throws when a record cannot be stored beside what is there. */
  protected abstract checkConflicts(record: R): void;

  /** A record as it is kept. */
  protected abstract rowOf(record: R, version: Version): Row;

  /** The keys that a filter asks for, where it asks for one. */
  protected abstract equalities(
    filter: Filter,
  ): Readonly<Record<string, string | null | undefined>>;

  protected find(id: Id): Row | undefined {
    this.#check();
    return this.table.get(id);
  }

  /** A row as others are shown it: its record is parsed for each of them, so it is no alias. */
  protected shown(row: Row): Versioned<R>;
  protected shown(row: Row | undefined): Versioned<R> | undefined;
  protected shown(row: Row | undefined): Versioned<R> | undefined {
    return row && new VersionedRecord<R>(row.json, row.version);
  }

  /** @returns the row that is about to be deleted; undefined when there is none */
  protected guarded(id: Id, guard?: Guard<R>): Row | undefined {
    const row = this.find(id);
    if (row !== undefined) guard?.(this.shown(row));
    return row;
  }

  /** Whether a row is what a filter asks for: only what is asked for is looked at. */
  #matcher(filter: Filter): (row: Row) => boolean {
    const { ids, createdAt, updatedAt, custom: customFilter } = filter;
    const conditions: ((row: Row) => boolean)[] = [];
    if (ids !== undefined) {
      const wanted = new Set(ids);
      conditions.push(({ id }) => wanted.has(id));
    }
    if (createdAt !== undefined) conditions.push(({ keys }) => isWithin(keys.createdAt, createdAt));
    if (updatedAt !== undefined) conditions.push(({ keys }) => isWithin(keys.updatedAt, updatedAt));
    for (const [name, key] of Object.entries(this.equalities(filter))) {
      if (key !== undefined) conditions.push(({ keys }) => keys[name] === key);
    }
    for (const { name, value } of customEqualities(customFilter, this.table.customFields)) {
      conditions.push(({ own }) => own[name] === value);
    }
    return (row) => conditions.every((holds) => holds(row));
  }

  #check(): void {
    if (this.#lifetime.closed) throw storeUnavailable('none');
  }

  #put(record: R, version: Version): Row {
    this.checkConflicts(record);
    const row = this.rowOf(record, version);
    this.table.put(row);
    return row;
  }

  /** What was made under a receipt; undefined when its key is free. */
  #earlierOf({ key, fingerprint, from }: Receipt): string | undefined {
    const earlier = this.#receipts.get(key);
    if (earlier === undefined || earlier.until <= from) return undefined;
    if (earlier.fingerprint !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
    return earlier.json;
  }

  #receipt({ key, fingerprint, from, until }: Receipt, json: string): void {
    // The oldest come first, as a rule; the first that is not outlived ends the search.
    for (const [old, receipt] of this.#receipts) {
      if (receipt.until > from) break;
      this.#receipts.delete(old);
    }
    this.#receipts.delete(key);
    this.#receipts.set(key, { fingerprint, until, json });
  }
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, 1), { replayed });
}

function isWithin(key: string | null | undefined, { from, before }: TimeSpan): boolean {
  const instant = key ?? '';
  return (from === undefined || instant >= from) && (before === undefined || instant < before);
}
