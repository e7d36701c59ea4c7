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

/** The rows of users or of posts, by id. An order is sorted when it is asked for. */
export class Table {
  readonly customFields: CustomFilterFields;
  readonly #ownNames: readonly string[];
  readonly #rows = new Map<Id, Row>();
  /** The ids of rows that were deleted. */
  readonly #deleted = new Set<Id>();
  /** The rows in the orders that were asked for since the last change. */
  readonly #sorted = new Map<string, readonly Row[]>();
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
    this.#sorted.clear();
  }

  delete(id: Id): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#giveUpKey(before);
    this.#rows.delete(id);
    this.#deleted.add(id);
    this.#sorted.clear();
  }

  filter(matches: (row: Row) => boolean): Row[] {
    return [...this.#rows.values()].filter(matches);
  }

  page(matches: (row: Row) => boolean, { order, limit, bytes, after }: Cut) {
    const { by, direction } = order;
    const found = walk(this.#sortedBy(by), matches, by, direction, after);
    return cutPage(found, { limit, bytes }, (row) => positionBy(by, row));
  }

  #giveUpKey(row: Row): void {
    const key = this.#uniqueKey(row);
    if (key !== null) this.#holders.delete(key);
  }

  #uniqueKey({ keys }: Row): string | null {
    return this.#unique === undefined ? null : (keys[this.#unique] ?? null);
  }

  #sortedBy(by: string): readonly Row[] {
    const known = this.#sorted.get(by);
    if (known !== undefined) return known;
    const sortable = Array.from(this.#rows.values(), (row) => ({ row, ...positionBy(by, row) }));
    const sorted = sortable.sort(comparePositions).map(({ row }) => row);
    this.#sorted.set(by, sorted);
    return sorted;
  }
}

/** Rows that have no such key, such as the one `id`, are in the order of their ids. */
function positionBy(by: string, { id, keys }: Row): Position {
  return { key: keys[by] ?? null, id };
}

/** The rows that match behind a position (or in all), in a direction. */
function* walk(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
  by: string,
  direction: 'asc' | 'desc',
  after?: Position,
): Generator<Row> {
  const step = direction === 'asc' ? 1 : -1;
  let i = step > 0 ? 0 : rows.length - 1;
  if (after !== undefined) {
    // How many rows come before the position, and at it where the walk goes up.
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = comparePositions(positionBy(by, rows[middle] as Row), after);
      if (order < 0 || (order === 0 && step > 0)) low = middle + 1;
      else high = middle;
    }
    i = step > 0 ? low : low - 1;
  }
  for (let row = rows[i]; row !== undefined; row = rows[i]) {
    if (matches(row)) yield row;
    i += step;
  }
}
