import type { DeclaredType } from '../fields/declared-fields.ts';
import type { Id, Versioned } from '../records/record.ts';
import { compareText, utf8Bytes } from '../records/text.ts';

/** Limits of a page. Short pages keep the unit of work small, so that no list delays other requests for long. */
export const pageLimits = {
  /** The most records on a page, and the default of a request's `limit`. */
  records: 100,
  /** The largest `limit` of a request. Its page ends at `records` all the same. */
  max: 1000,
  /** The most bytes of JSON, but a page has at least one record. */
  bytes: 1024 * 1024,
} as const;

/** A field that a store filters or sorts by. */
export interface QueryField {
  /** A name in the record's `searchRow`, or the name of a declared field. */
  readonly field: string;
  /** The type of a declared field, which is in the record's JSON; absent for a search field. */
  readonly declaredType?: DeclaredType | undefined;
}

/** Limits of a list's filter. */
export const filterLimits = {
  /** Conditions: values, and ends of ranges. The elements that one array must contain count as one. */
  conditions: 32,
  /** Elements that arrays must contain, over all filters. */
  elements: 64,
} as const;

/**
 * A condition on one field that a matching record meets:
 *
 * - `eq`: this value exactly.
 * - `in`: one of these.
 * - `has`: an array that contains this text (declared fields of the type `text[]`).
 * - `from`, `before`: at or after, or before this value: texts by code point, numbers by size. For a number,
 *   the value may be infinite.
 * - `isNull`: no value (search fields only).
 *
 * A value has the type of its field: those of `instantFields` are instants. Null, or a declared field that is absent,
 * matches only `isNull`.
 */
export type Condition = QueryField &
  (
    | { readonly op: 'eq'; readonly value: string | number | boolean }
    | { readonly op: 'in'; readonly value: readonly string[] }
    | { readonly op: 'has'; readonly value: string }
    | { readonly op: 'from' | 'before'; readonly value: string | number }
    | { readonly op: 'isNull'; readonly declaredType?: undefined }
  );

/**
 * Sorts by a field in a direction; ties are sorted by id in the same direction. A declared field is a text or
 * a number; if it is absent, its key is null.
 */
export interface QueryOrder extends QueryField {
  readonly direction: 'asc' | 'desc';
}

/** The value that an order sorts by: a number only for a field that is declared as one. */
export type SortKey = string | number | null;

/**
 * A position in a list: just after the record that had this sort key and this id when it was
 * read. The record itself may be gone by now.
 */
export interface Position {
  readonly key: SortKey;
  readonly id: Id;
}

/** The request of the core for one page. */
export interface ListQuery {
  /** A record must meet all of them; an empty list matches every record. */
  readonly conditions: readonly Condition[];
  readonly order: QueryOrder;
  /** The position at which the previous page ended; absent for the first page. */
  readonly after?: Position | undefined;
  /** The most records on the page: 1 to {@link pageLimits}.max. */
  readonly limit: number;
  /** The most bytes of UTF-8 that the records' `json` may have: see {@link cutPage}. */
  readonly bytes: number;
  /** Whether to count all records that match, on every page. */
  readonly total?: boolean | undefined;
  /**
   * The top-level fields of each record to return; `id` is always one of them. A store that reads only
   * these says so with {@link Page.isProjected}, and counts the bytes of what it read. For any other
   * store the core cuts the records.
   */
  readonly fields?: readonly string[] | undefined;
  /** Aborted when the page is no longer needed: a store may stop reading and throw its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns the query for all records by id, after an id. */
export function scanQuery({
  after,
  ...cut
}: Pick<ListQuery, 'limit' | 'bytes'> & { readonly after?: Id | undefined }): ListQuery {
  const position = after === undefined ? undefined : { key: after, id: after };
  return { ...cut, conditions: [], order: { field: 'id', direction: 'asc' }, after: position };
}

export interface Page<R> {
  readonly items: readonly Versioned<R>[];
  /** The position at which the next page begins; absent on the last page. */
  readonly next?: Position | undefined;
  /** The number of matching records, if the request asked for it. */
  readonly total?: number | undefined;
  /** True if the records have only the requested fields. */
  readonly isProjected?: boolean | undefined;
}

/** Compares positions of a list: in ascending order null first, text by code point, numbers by size, then by id. */
export function comparePositions(
  a: Position,
  b: Position,
  direction: QueryOrder['direction'] = 'asc',
): number {
  const distance = compareKeys(a.key, b.key) || compareText(a.id, b.id);
  return direction === 'asc' ? distance : -distance;
}

/** Compares sort keys: null first, text by code point, numbers by size. */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Number(a !== null) - Number(b !== null);
}

/**
 * Cuts a page from the records that follow in a list: at `limit` records, or before the record that would
 * exceed `bytes`, but with at least one record.
 *
 * Takes at most one record beyond the page, so that a store can read them one by one.
 *
 * @param position returns the position of a record, for `next`
 */
export function cutPage<V extends { readonly json: string }>(
  records: Iterable<V>,
  { limit, bytes }: { readonly limit: number; readonly bytes: number },
  position: (record: V) => Position,
): { readonly items: V[]; readonly next?: Position } {
  const items: V[] = [];
  // Count bytes only if this bound exceeds the limit.
  const maxBytesPerUnit = 3;
  let size = 0;
  let uncounted: V[] = [];
  for (const record of records) {
    const last = items.at(-1);
    if (last !== undefined && items.length >= limit) return { items, next: position(last) };
    uncounted.push(record);
    size += record.json.length * maxBytesPerUnit;
    if (size > bytes) {
      for (const { json } of uncounted) size += utf8Bytes(json) - json.length * maxBytesPerUnit;
      uncounted = [];
      if (last !== undefined && size > bytes) return { items, next: position(last) };
    }
    items.push(record);
  }
  return { items };
}
