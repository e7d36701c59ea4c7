import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import { checkRecord } from '../../domain/fields/declared-fields.ts';
import { cutPage, type ListQuery, type Page, scanQuery } from '../../domain/lists/list.ts';
import type { Post } from '../../domain/records/post.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import {
  type Id,
  type Version,
  type Versioned,
  versionToLoad,
} from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { Creation, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { DeletedId, RecordTransfer, ScanRequest } from '../../ports/transfer.ts';
import { matches, positionOf, type Row, type Table, versionedOf, withFields } from './table.ts';

export interface State {
  isClosed: boolean;
  isFilling: boolean;
}

/** @throws RostrumError `store-unavailable` if the store is closed */
export function checkOpen({ isClosed }: State): void {
  if (isClosed) throw storeUnavailable('none');
}

interface StoredReceipt {
  readonly fingerprint: string;
  readonly until: string;
  /** The record as it was created, with its version. */
  readonly row: Row;
}

/** Stores users or posts. No method awaits anything, which makes each of them atomic. */
export class MemoryRepository<R extends User | Post> implements Repository<R>, RecordTransfer<R> {
  readonly #table: Table<R>;
  readonly #state: State;
  readonly #checkReferences: (record: R) => void;
  readonly #receipts = new Map<string, StoredReceipt>();

  /** @param checkReferences throws if a record names another one that does not exist */
  constructor(state: State, table: Table<R>, checkReferences = (_record: R) => {}) {
    this.#state = state;
    this.#table = table;
    this.#checkReferences = checkReferences;
  }

  /** @throws RostrumError `store-unavailable` if the store is closed */
  protected get table(): Table<R> {
    checkOpen(this.#state);
    return this.#table;
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    const row = this.table.get(id);
    return row && versionedOf(row);
  }

  async list(query: ListQuery): Promise<Page<R>> {
    const { conditions, order, after, total, fields } = query;
    const found = this.table.rowsAfter(order, after).filter((row) => matches(row, conditions));
    const rows = fields ? found.map((row) => withFields(row, fields)) : found;
    const { items, next } = cutPage(rows, query, (row) => positionOf(row, order));
    const count = total && { total: this.table.matching(conditions).length };
    const isProjected = fields !== undefined;
    return { items: items.map((row) => versionedOf<R>(row)), next, isProjected, ...count };
  }

  async create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    const { table } = this;
    const earlier = receipt && repeatedReceipt(this.#receipts.get(receipt.key), receipt);
    if (earlier !== undefined) {
      return Object.assign(versionedOf<R>(earlier.row), { replayed: true });
    }
    const { id } = record;
    if (table.get(id) !== undefined) throw new RostrumError('id-taken', { id });
    const row = this.#put(record, (table.lastVersion(id) ?? 0) + 1);
    if (receipt !== undefined) this.#storeReceipt(receipt, row);
    return Object.assign(versionedOf<R>(row), { replayed: false });
  }

  async lastVersion(id: Id): Promise<Version | undefined> {
    return this.table.lastVersion(id);
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    const row = this.table.get(id);
    if (row === undefined) return undefined;
    const current = versionedOf<R>(row);
    const next = decide(current);
    // A fresh copy, because `decide` may have modified its argument.
    if (next === current.record) return versionedOf(row);
    return versionedOf(this.#put(next, row.version + 1));
  }

  async scan(request: ScanRequest): Promise<readonly Versioned<R>[]> {
    return (await this.list(scanQuery(request))).items;
  }

  async load(records: readonly Versioned<R>[]): Promise<void> {
    const { table } = this;
    for (const { record, version } of records) {
      checkRecord(table.declared, record);
      const current = table.get(record.id)?.version;
      this.#put(record, versionToLoad(version, current, table.lastVersion(record.id)));
    }
  }

  readonly deleted = {
    scan: async (limit: number, after?: Id): Promise<readonly DeletedId[]> => {
      return this.table.deletedIds(limit, after);
    },
    load: async (ids: readonly DeletedId[]): Promise<void> => {
      const { table } = this;
      for (const { id, lastVersion } of ids) table.markDeleted(id, lastVersion);
    },
  };

  /** Returns the row to delete, undefined if there is none. Throws what the guard throws. */
  protected rowToDelete(id: Id, guard?: Guard<R>): Row | undefined {
    const row = this.table.get(id);
    if (row !== undefined) guard?.(versionedOf(row));
    return row;
  }

  #put(record: R, version: Version): Row {
    const row = this.table.rowOf(record, version);
    this.table.checkUnique(row);
    this.#checkReferences(record);
    this.table.put(row);
    return row;
  }

  #storeReceipt({ key, fingerprint, from, until }: Receipt, row: Row): void {
    // Expired receipts usually come first, so the first valid one ends the search.
    for (const [old, receipt] of this.#receipts) {
      if (receipt.until > from) break;
      this.#receipts.delete(old);
    }
    this.#receipts.delete(key);
    this.#receipts.set(key, { fingerprint, until, row });
  }
}
