import { copyJson } from '../../domain/json.ts';
import type { Order, Page, PageRequest, Position } from '../../domain/page.ts';
import type { Entity, Id, Version, Versioned } from '../../domain/record.ts';
import { SortedIndex } from './sorted-index.ts';

/**
 * The records of one kind, by id and by every order.
 *
 * What goes in is copied. What comes out is the table's own, never changed but replaced: whoever
 * hands it to an outsider copies it first.
 */
export class Table<R extends Entity, Sort extends string> {
  readonly #rows = new Map<Id, Versioned<R>>();
  readonly #ids = new SortedIndex();
  readonly #indexes: ReadonlyMap<Sort, SortedIndex>;
  readonly #sortKey: (record: R, by: Sort) => string | null;

  constructor(sorts: readonly Sort[], sortKey: (record: R, by: Sort) => string | null) {
    this.#indexes = new Map(sorts.map((sort) => [sort, new SortedIndex()]));
    this.#sortKey = sortKey;
  }

  get(id: Id): Versioned<R> | undefined {
    return this.#rows.get(id);
  }

  /** Adds a record, or replaces the one with its id. */
  put(record: R, version: Version): Versioned<R> {
    this.delete(record.id);
    const row = copyJson({ record, version });
    this.#rows.set(record.id, row);
    this.#ids.add(idPlace(record.id));
    for (const [by, index] of this.#indexes) index.add(this.#place(row.record, by));
    return row;
  }

  delete(id: Id): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    this.#ids.remove(idPlace(id));
    for (const [by, index] of this.#indexes) index.remove(this.#place(row.record, by));
  }

  filter(matches: (record: R) => boolean): Versioned<R>[] {
    return [...this.#rows.values()].filter((row) => matches(row.record));
  }

  /** The first records behind an id, by id. */
  scan(limit: number, after?: Id): Versioned<R>[] {
    const place = after === undefined ? undefined : idPlace(after);
    const ids = this.#ids.walk('asc', place).take(limit);
    return [...ids].flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** The id of the first record with this sort key. */
  firstWith(by: Sort, key: string): Id | undefined {
    return this.#index(by).firstWith(key);
  }

  page(matches: (record: R) => boolean, request: PageRequest<Order<Sort>>): Page<Versioned<R>> {
    const { order, limit, after, total } = request;
    const items: Versioned<R>[] = [];
    let more = false;
    for (const id of this.#index(order.by).walk(order.direction, after)) {
      const row = this.#rows.get(id);
      if (row === undefined || !matches(row.record)) continue;
      more = items.length === limit;
      if (more) break;
      items.push(row);
    }
    const last = items.at(-1);
    return {
      items,
      ...(more && last && { next: this.#place(last.record, order.by) }),
      ...(total && { total: this.filter(matches).length }),
    };
  }

  #place(record: R, by: Sort): Position {
    return { key: this.#sortKey(record, by), id: record.id };
  }

  #index(by: Sort): SortedIndex {
    const index = this.#indexes.get(by);
    if (index === undefined) throw new RangeError(`no such order: ${by}`);
    return index;
  }
}

function idPlace(id: Id): Position {
  return { key: null, id };
}
