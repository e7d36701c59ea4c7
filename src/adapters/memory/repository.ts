import { type CustomFilterFields, customEqualities } from '../../domain/custom-filters.ts';
import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import {
  cutPage,
  type EntityFilter,
  type Order,
  type Page,
  type PageRequest,
  type TimeSpan,
} from '../../domain/list.ts';
import type { Receipt } from '../../domain/receipt.ts';
import { type Entity, type Id, type Versioned, VersionedRecord } from '../../domain/record.ts';
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
  R extends Entity,
  Filter extends EntityFilter,
  Sort extends string,
> implements Repository<R, Filter, Sort>, RecordTransfer<R>
{
  protected readonly table: Table<R, Sort>;
  readonly #lifetime: Lifetime;
  readonly #customFields: CustomFilterFields | undefined;
  readonly #receipts = new Map<string, StoredReceipt>();

  constructor(lifetime: Lifetime, table: Table<R, Sort>, customFields?: CustomFilterFields) {
    this.#lifetime = lifetime;
    this.table = table;
    this.#customFields = customFields;
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    this.#check();
    return shown(this.table.get(id));
  }

  async list(request: PageRequest<Filter, Sort>): Promise<Page<R>> {
    this.#check();
    const { filter, order, total } = request;
    const matches = this.#wholeMatcher(filter);
    const page = this.#page(order, request, matches);
    return { ...page, ...(total && { total: this.table.filter(matches).length }) };
  }

  async create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    this.#check();
    const earlier = receipt && this.#earlierOf(receipt);
    if (earlier !== undefined) return creation(earlier, true);
    if (this.table.isIdTaken(record.id)) throw new RostrumError('id-taken', { id: record.id });
    const { json } = this.#put(record, 1);
    if (receipt !== undefined) this.#keep(receipt, json);
    return creation(json, false);
  }

  async isIdTaken(id: Id): Promise<boolean> {
    this.#check();
    return this.table.isIdTaken(id);
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    this.#check();
    const current = shown(this.table.get(id));
    if (current === undefined) return undefined;
    const next = decide(current);
    // Not what was shown: that may have been changed.
    if (next === current.record) return shown(this.table.get(id));
    return shown(this.#put(next, current.version + 1));
  }

  async scan({ after, ...cut }: ScanRequest): Promise<readonly Versioned<R>[]> {
    this.#check();
    const behind = after === undefined ? undefined : { key: after, id: after };
    return this.#page({ by: 'id', direction: 'asc' }, { ...cut, after: behind }).items;
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    this.#check();
    for (const { record, version } of records) this.#put(record, version);
  }

  /** Throws when a record cannot be stored beside what is there. */
  protected abstract checkConflicts(record: R): void;

  /** What a filter asks of the fields that only users, or only posts, have. */
  protected abstract matcher(filter: Filter): (record: R) => boolean;

  /** Whether there is a record that is about to be deleted. The guard may refuse. */
  protected isToDelete(id: Id, guard?: Guard<R>): boolean {
    this.#check();
    const current = shown(this.table.get(id));
    if (current !== undefined) guard?.(current);
    return current !== undefined;
  }

  #page(
    order: Order<Sort | 'id'>,
    { after, ...cut }: Pick<PageRequest<Filter, Sort>, 'limit' | 'bytes' | 'after'>,
    matches = (_: R) => true,
  ) {
    const rows = this.table.behind(order, after, matches);
    const position = ({ head }: Row<R>) => this.table.position(head, order.by);
    const { items, next } = cutPage(rows, cut, position);
    return { items: items.map((row) => shown(row)), next };
  }

  #wholeMatcher(filter: Filter): (record: R) => boolean {
    const { ids, createdAt, updatedAt, custom } = filter;
    const wanted = ids && new Set(ids);
    const equalities = customEqualities(custom, this.#customFields);
    const matches = this.matcher(filter);
    return (record) =>
      (wanted === undefined || wanted.has(record.id)) &&
      isWithin(record.createdAt, createdAt) &&
      isWithin(record.updatedAt, updatedAt) &&
      equalities.every(({ name, value }) => record[name] === value) &&
      matches(record);
  }

  #check(): void {
    if (this.#lifetime.closed) throw storeUnavailable('none');
  }

  #put(record: R, version: number): Row<R> {
    this.checkConflicts(record);
    return this.table.put(record, version);
  }

  /** What was made under a receipt; undefined when its key is free. */
  #earlierOf({ key, fingerprint, from }: Receipt): string | undefined {
    const earlier = this.#receipts.get(key);
    if (earlier === undefined || earlier.until <= from) return undefined;
    if (earlier.fingerprint !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
    return earlier.json;
  }

  #keep({ key, fingerprint, from, until }: Receipt, json: string): void {
    // The oldest come first, as a rule; the first that is not outlived ends the search.
    for (const [old, receipt] of this.#receipts) {
      if (receipt.until > from) break;
      this.#receipts.delete(old);
    }
    this.#receipts.delete(key);
    this.#receipts.set(key, { fingerprint, until, json });
  }
}

/** A row as others are shown it: its record is parsed for each of them, so it is no alias. */
export function shown<R>(row: Row<R>): Versioned<R>;
export function shown<R>(row: Row<R> | undefined): Versioned<R> | undefined;
export function shown<R>(row: Row<R> | undefined): Versioned<R> | undefined {
  return row && new VersionedRecord<R>(row.json, row.version);
}

function creation<R>(json: string, replayed: boolean): Creation<R> {
  return Object.assign(new VersionedRecord<R>(json, 1), { replayed });
}

export function isWithin(instant: string, { from, before }: TimeSpan = {}): boolean {
  return (from === undefined || instant >= from) && (before === undefined || instant < before);
}
