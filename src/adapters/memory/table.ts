import { comparePositions, type Order, type Position } from '../../domain/list.ts';
import { type Id, projected, type Version } from '../../domain/record.ts';

/** A record as it is kept: as text, which takes far less memory than what it says. */
export interface Row<R> {
  readonly version: Version;
  readonly json: string;
  /** The fields alone that lists are sorted and filtered by. */
  readonly head: R;
}

interface Place<R> extends Position {
  readonly row: Row<R>;
}

interface TableParts<R, Sort> {
  /** Those that lists are sorted and filtered by. */
  readonly fields: readonly string[];
  readonly sortKey: (record: R, by: Sort) => string | null;
  /** What no two records have; null is no value. */
  readonly uniqueKey: (record: R) => string | null;
  /** Told of each record that is stored at another version than before, or gone. */
  readonly changed: (id: Id, version: Version | null) => void;
}

/** The records of users or of posts, by id. An order is sorted when it is asked for. */
export class Table<R extends { readonly id: Id }, Sort extends string> {
  readonly #parts: TableParts<R, Sort>;
  readonly #rows = new Map<Id, Row<R>>();
  /** The ids that were ever used. */
  readonly #ids = new Set<Id>();
  readonly #holders = new Map<string, Id>();
  /** The orders that were asked for since the last change. */
  readonly #orders = new Map<string, readonly Place<R>[]>();

  constructor(parts: TableParts<R, Sort>) {
    this.#parts = parts;
  }

  get(id: Id): Row<R> | undefined {
    return this.#rows.get(id);
  }

  isIdTaken(id: Id): boolean {
    return this.#ids.has(id);
  }

  /** The record that has this value of the unique key. */
  holder(key: string): Id | undefined {
    return this.#holders.get(key);
  }

  filter(matches: (record: R) => boolean): Row<R>[] {
    return [...this.#rows.values()].filter(({ head }) => matches(head));
  }

  /** Adds a record, or replaces the one with its id. */
  put(record: R, version: Version): Row<R> {
    const { id } = record;
    const { fields, uniqueKey, changed } = this.#parts;
    const row = { version, json: JSON.stringify(record), head: projected(record, fields) };
    const before = this.#remove(id);
    this.#rows.set(id, row);
    this.#ids.add(id);
    const key = uniqueKey(record);
    if (key !== null) this.#holders.set(key, id);
    if (before?.version !== version) changed(id, version);
    return row;
  }

  delete(id: Id): void {
    if (this.#remove(id) !== undefined) this.#parts.changed(id, null);
  }

  #remove(id: Id): Row<R> | undefined {
    const row = this.#rows.get(id);
    const key = row && this.#parts.uniqueKey(row.head);
    if (key != null) this.#holders.delete(key);
    this.#rows.delete(id);
    this.#orders.clear();
    return row;
  }

  /** Where a record is in an order: by a sort key and the id, or by the id alone. */
  position(record: R, by: Sort | 'id'): Position {
    const { id } = record;
    return { key: by === 'id' ? id : this.#parts.sortKey(record, by as Sort), id };
  }

  /** The rows behind a position, or all, that match. */
  *behind(
    order: Order<Sort | 'id'>,
    after: Position | undefined,
    matches: (record: R) => boolean,
  ): Generator<Row<R>> {
    const places = this.#inOrder(order);
    const sign = order.direction === 'asc' ? 1 : -1;
    let [low, high] = [0, after === undefined ? 0 : places.length];
    while (after !== undefined && low < high) {
      const middle = (low + high) >>> 1;
      if (sign * comparePositions(places[middle] as Place<R>, after) > 0) high = middle;
      else low = middle + 1;
    }
    for (let place = places[low]; place !== undefined; place = places[++low]) {
      if (matches(place.row.head)) yield place.row;
    }
  }

  #inOrder({ by, direction }: Order<Sort | 'id'>): readonly Place<R>[] {
    const name = `${by} ${direction}`;
    let places = this.#orders.get(name);
    if (places === undefined) {
      const sign = direction === 'asc' ? 1 : -1;
      places = Array.from(this.#rows.values(), (row) => ({
        row,
        ...this.position(row.head, by),
      })).sort((a, b) => sign * comparePositions(a, b));
      this.#orders.set(name, places);
    }
    return places;
  }
}
