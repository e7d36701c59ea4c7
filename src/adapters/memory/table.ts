import type { CustomFilterFields } from '../../domain/custom-filters.ts';
import { comparePositions, cutPage, type PageRequest, type Position } from '../../domain/list.ts';
import type { EntityFields, Id, Version } from '../../domain/record.ts';

/** A record as it is kept: as text, beside what it is filtered and sorted by. */
export interface Row {
  readonly id: Id;
  readonly version: Version;
  readonly json: string;
  readonly keys: Keys;
  /** The custom fields that lists can be filtered by. */
  readonly own: OwnKeys;
}

export type Keys = Readonly<Record<string, string | null>>;

type OwnKeys = Readonly<Record<string, unknown>>;

const noOwnKeys: OwnKeys = {};

type Cut = Pick<PageRequest<never, string>, 'order' | 'limit' | 'bytes' | 'after'>;

/** The rows of users or of posts, by id and in every order that was asked for. */
export class Table {
  readonly customFields: CustomFilterFields;
  readonly #ownNames: readonly string[];
  readonly #rows = new Map<Id, Row>();
  /** The ids of rows that were deleted. */
  readonly #deleted = new Set<Id>();
  readonly #sorted = new Map<string, SortedRows>();
  readonly #unique: string | undefined;
  readonly #holders = new Map<string, Id>();

  /**
   * @param customFields those that lists can be filtered by
   * @param unique the key of which no two rows have the same value; null is no value
   */
  constructor(customFields: CustomFilterFields = {}, unique?: string) {
    this.customFields = customFields;
    this.#ownNames = Object.keys(customFields);
    this.#unique = unique;
  }

  /** What a record has in these fields; a list or an object equals no value that is asked for. */
  ownKeys(record: EntityFields): OwnKeys {
    if (this.#ownNames.length === 0) return noOwnKeys;
    const values: Readonly<Record<string, unknown>> = record;
    const names = this.#ownNames.filter((name) => {
      return Object.hasOwn(values, name) && typeof values[name] !== 'object';
    });
    return Object.fromEntries(names.map((name) => [name, values[name]]));
  }

  get(id: Id): Row | undefined {
    return this.#rows.get(id);
  }

  /** Whether there is a row with this id, or was one. */
  isIdTaken(id: Id): boolean {
    return this.#rows.has(id) || this.#deleted.has(id);
  }

  /** The row that has this value of the unique key. */
  holder(key: string): Id | undefined {
    return this.#holders.get(key);
  }

  /** Adds a row, or replaces the one with its id. */
  put(row: Row): void {
    const before = this.#rows.get(row.id);
    if (before !== undefined) this.#giveUpKey(before);
    this.#rows.set(row.id, row);
    const key = this.#uniqueKey(row);
    if (key !== null) this.#holders.set(key, row.id);
    this.#changed(row.id, before);
  }

  delete(id: Id): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#giveUpKey(before);
    this.#rows.delete(id);
    this.#deleted.add(id);
    this.#changed(id, before);
  }

  filter(matches: (row: Row) => boolean): Row[] {
    return [...this.#rows.values()].filter(matches);
  }

  page(matches: (row: Row) => boolean, { order, limit, bytes, after }: Cut) {
    const { by, direction } = order;
    const found = this.#sortedBy(by).walk(this.#rows, matches, direction, after);
    return cutPage(found, { limit, bytes }, (row) => positionBy(by, row));
  }

  #giveUpKey(row: Row): void {
    const key = this.#uniqueKey(row);
    if (key !== null) this.#holders.delete(key);
  }

  #changed(id: Id, before: Row | undefined): void {
    for (const sorted of this.#sorted.values()) sorted.changed(id, before, this.#rows.size);
  }

  #uniqueKey({ keys }: Row): string | null {
    return this.#unique === undefined ? null : (keys[this.#unique] ?? null);
  }

  #sortedBy(by: string): SortedRows {
    let sorted = this.#sorted.get(by);
    if (sorted === undefined) {
      sorted = new SortedRows(by);
      this.#sorted.set(by, sorted);
    }
    return sorted;
  }
}

/** Rows that have no such key, such as the one `id`, are in the order of their ids. */
function positionBy(by: string, { id, keys }: Row): Position {
  return { key: keys[by] ?? null, id };
}

/** More changes than these are sorted with all others in less time than each takes to be put in place. */
const fewChanges = 1000;

/**
 * Rows in one order. Changes are put in place when the order is next asked for. Of an order that
 * is no longer read, nothing is kept: so neither writes nor memory are spent on it.
 */
class SortedRows {
  readonly #by: string;
  #rows: Row[] = [];
  /**
   * The ids whose rows changed since the rows were sorted, and what is among these for each: no other
   * version is kept. Undefined when they have to be sorted anew.
   */
  #changes: Map<Id, Row | undefined> | undefined;

  constructor(by: string) {
    this.#by = by;
  }

  changed(id: Id, before: Row | undefined, total: number): void {
    if (this.#changes === undefined) return;
    if (!this.#changes.has(id)) this.#changes.set(id, before);
    // So many are sorted anew in hardly more time.
    if (this.#changes.size <= 100 + total / 10) return;
    this.#changes = undefined;
    this.#rows = [];
  }

  /** The rows that match behind a position (or in all), in a direction. */
  *walk(
    all: ReadonlyMap<Id, Row>,
    matches: (row: Row) => boolean,
    direction: 'asc' | 'desc',
    after?: Position,
  ): Generator<Row> {
    this.#settle(all);
    const rows = this.#rows;
    const isUp = direction === 'asc';
    const before = after === undefined ? undefined : this.#countBefore(after, isUp);
    let i = isUp ? (before ?? 0) : (before ?? rows.length) - 1;
    for (let row = rows[i]; row !== undefined; row = rows[i]) {
      if (matches(row)) yield row;
      i += isUp ? 1 : -1;
    }
  }

  #settle(all: ReadonlyMap<Id, Row>): void {
    const changes = this.#changes;
    this.#changes = new Map();
    if (changes === undefined) {
      const sortable = Array.from(all.values(), (row) => ({ row, ...positionBy(this.#by, row) }));
      this.#rows = sortable.sort(comparePositions).map(({ row }) => row);
      return;
    }
    if (changes.size > fewChanges) {
      const rows = this.#rows.filter(({ id }) => !changes.has(id));
      for (const id of changes.keys()) {
        const row = all.get(id);
        if (row !== undefined) rows.push(row);
      }
      // Nearly all of them are in order already, which a sort makes use of.
      const by = this.#by;
      this.#rows = rows.sort((a, b) => comparePositions(positionBy(by, a), positionBy(by, b)));
      return;
    }
    for (const [id, before] of changes) {
      if (before !== undefined) this.#rows.splice(this.#indexOf(before), 1);
      const row = all.get(id);
      if (row !== undefined) this.#rows.splice(this.#indexOf(row), 0, row);
    }
  }

  /** Where a row is, or belongs. */
  #indexOf(row: Row): number {
    return this.#countBefore(positionBy(this.#by, row));
  }

  /** @param orAt whether to count the row at the position, too */
  #countBefore(position: Position, orAt = false): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = comparePositions(positionBy(this.#by, this.#rows[middle] as Row), position);
      if (order < 0 || (order === 0 && orAt)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
