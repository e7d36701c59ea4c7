import {
  comparePositions,
  type EntityFilter,
  type PageRequest,
  type Position,
  type TimeSpan,
} from '../../../domain/list.ts';
import type { Version } from '../../../domain/record.ts';
import { compareText } from '../../../domain/text.ts';
import type { SqlValue } from '../connection/connection.ts';
import { exactly } from '../record-table.ts';
import { type Projection, whole } from './projection.ts';

/** A filter that holds a column, or an expression, to one value. */
export interface Equality<Sort extends string> {
  readonly column: string;
  readonly value: string | null;
  /** The index that finds the rows with this value. */
  readonly index: string;
  /** Those that find them in an order. */
  readonly ordered: Partial<Readonly<Record<Sort, string>>>;
  /** Whether most rows may have this value: then another one finds fewer. */
  readonly isBroad?: boolean;
}

/** How lists of one table are asked for. */
export interface ListScheme<Filter extends EntityFilter, Sort extends string> {
  readonly table: 'users' | 'posts';
  /** What rows can be sorted by, and the index on that and the id. */
  readonly sorts: Readonly<Record<Sort, { readonly column: string; readonly index: string }>>;
  /** The fields, beside the id, that have a column of the same value. */
  readonly fields: Readonly<Record<string, string>>;
  /** The filters on one value, the one that leaves the fewest rows first. */
  equalities(filter: Filter): readonly Equality<Sort>[];
}

export interface Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A row of a page: just the rowid when the rest is to be read when its turn comes. */
export type PageRow = [row: number, version: Version | null, json: string | null];

/**
 * The rows of a page and one more, which tells whether another page follows. They are read at once,
 * so those of more than their part of the page's bytes come without their record; so do those that
 * SQLite sorts, which is given just their keys.
 *
 * Every query names its index (INDEXED BY), so that no plan hangs on what SQLite guesses of the
 * data: the primary key's for ids, the value's for a filter on one value, otherwise the order's.
 * So every order, and an author's posts by each time, read just the rows of their page. What is not so:
 *
 * - `ids`: at most 100 rows are looked up by the primary key and sorted in memory.
 * - A filter on a name or a title in another order, and an author's posts by title, sort the keys of
 *   the rows that have it: about 15 ms for 100,000, as most of these orders are sorted in the index
 *   alone. A custom field is like that in all orders but that of `created_at`.
 * - A span in an order that is not its own is looked for row by row in that order; a span of
 *   `updated_at` in the order of `created_at` in the index alone, where a table is walked.
 */
export function pageQuery<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  { filter, order, limit, bytes, after }: PageRequest<Filter, Sort>,
  text: Projection = whole,
): Query {
  const { table } = scheme;
  const { column, index: orderIndex } = scheme.sorts[order.by];
  const equalities = scheme.equalities(filter);
  const [equality] = equalities;
  const ordered = equality ? equality.ordered[order.by] : orderIndex;
  const index = filter.ids
    ? `sqlite_autoindex_${table}_1`
    : (ordered ?? equality?.index ?? orderIndex);
  const isSorted = filter.ids !== undefined || ordered === undefined;

  const pinned = equalities.find((one) => one.column === column)?.value;
  const spans = { createdAt: filter.createdAt, updatedAt: filter.updatedAt };
  const span = order.by in spans ? spans[order.by as keyof typeof spans] : undefined;
  const bounds = boundsOf(order.direction, after, span);
  const { sql, values } = where([
    ...conditions(filter, equalities, order.by),
    ...(pinned ? withinPinned(pinned, bounds) : within(column, bounds)),
  ]);
  const direction = order.direction.toUpperCase();
  const part = text.isShort ? text.sql : `CASE WHEN octet_length(record) <= ? THEN ${text.sql} END`;
  const partValues = [...(text.isShort ? [] : [Math.ceil(bytes / limit)]), ...text.values];
  const found = isSorted ? 'rowid, NULL, NULL' : `rowid, version, ${part}`;
  return {
    sql: `SELECT ${found} FROM ${table} INDEXED BY ${index}${sql} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
    values: [...(isSorted ? [] : partValues), ...values, limit + 1],
  };
}

/** Where a row is in an order: its sort key and its id. A key that is empty is a missing email. */
export function positionQuery<Sort extends string>(
  { table, sorts }: ListScheme<never, Sort>,
  by: Sort,
  row: number,
): Query {
  return { sql: `SELECT ${sorts[by].column}, id FROM ${table} WHERE rowid = ?`, values: [row] };
}

/** The number of rows that match, as `total`. */
export function totalQuery<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
): Query {
  const { sql, values } = where(conditions(filter, scheme.equalities(filter)));
  return { sql: `SELECT count(*) FROM ${scheme.table}${sql}`, values };
}

/** `WHERE` with all conditions, or nothing when there are none. */
function where(all: readonly Query[]): Query {
  const sql = all.map((one) => one.sql).join(' AND ');
  return { sql: sql && ` WHERE ${sql}`, values: all.flatMap((one) => one.values) };
}

/** What the filter says, but for the span of the column that is sorted by. */
function conditions<Sort extends string>(
  { ids, createdAt, updatedAt }: EntityFilter,
  equalities: readonly Equality<Sort>[],
  by?: Sort,
): Query[] {
  return [
    ...(ids ? [anyOf(ids)] : []),
    ...equalities.map(({ column, value }) =>
      value === null
        ? { sql: `${column} IS NULL`, values: [] }
        : { sql: `${column} = ?`, values: [exactly(value)] },
    ),
    ...(by === 'createdAt' ? [] : spanOf('created_at', createdAt)),
    ...(by === 'updatedAt' ? [] : spanOf('updated_at', updatedAt)),
  ];
}

/**
 * Any of some ids. The list is filled up to a power of two with its last one, so that a hundred
 * lengths share eight statements.
 */
function anyOf(ids: readonly string[]): Query {
  let length = 1;
  while (length < ids.length) length *= 2;
  const values = Array.from({ length }, (_, i) => exactly(ids[i] ?? ids.at(-1) ?? '\ud800'));
  return { sql: `id IN (${values.map(() => '?').join(', ')})`, values };
}

function spanOf(column: string, { from, before }: TimeSpan = {}): Query[] {
  return [
    ...(from === undefined ? [] : [{ sql: `${column} >= ?`, values: [orderable(from)] }]),
    ...(before === undefined ? [] : [{ sql: `${column} < ?`, values: [orderable(before)] }]),
  ];
}

/** A page's rows are at or behind `from`, and before `before`, whatever its direction. */
interface Bounds {
  readonly from?: Position | undefined;
  readonly before?: Position | undefined;
}

/**
 * The position that a page begins behind, and the span of the column that it is sorted by.
 *
 * SQLite enters an index by one bound on either side. Where the position and the span bound the
 * same side, the query has only the narrower: by the other, SQLite would walk to the page.
 */
function boundsOf(direction: 'asc' | 'desc', after?: Position, span: TimeSpan = {}): Bounds {
  // No id is empty, so `''` is before all of them.
  const from = span.from === undefined ? undefined : { key: orderable(span.from), id: '' };
  const before = span.before === undefined ? undefined : { key: orderable(span.before), id: '' };
  if (after === undefined) return { from, before };
  // A missing email is `''` here; the empty text behind it, and before all others, is a NUL.
  const key = after.key === null ? '' : orderable(after.key) || '\0';
  // No record is at a key that had to be replaced: all that have the new one are behind it.
  const id = key === (after.key ?? '') ? orderable(after.id) : '';
  // The first text behind another one is that with a NUL at its end.
  const first = { key, id: id === after.id ? `${id}\0` : id };
  if (direction === 'asc') return { from: narrower(first, from, 1), before };
  return { from, before: narrower({ key, id }, before, -1) };
}

function narrower(a: Position, b: Position | undefined, sign: 1 | -1): Position {
  return b !== undefined && comparePositions(b, a) * sign > 0 ? b : a;
}

function within(column: string, { from, before }: Bounds): Query[] {
  return [
    ...(from ? [{ sql: `(${column}, id) >= (?, ?)`, values: [from.key, from.id] }] : []),
    ...(before ? [{ sql: `(${column}, id) < (?, ?)`, values: [before.key, before.id] }] : []),
  ];
}

/** The same, where a filter holds the column to one value: the rest is an order by id alone. */
function withinPinned(value: string, { from, before }: Bounds): Query[] {
  const isBehind = from && compareText(value, from.key ?? '');
  const isBefore = before && compareText(before.key ?? '', value);
  return [
    ...(isBehind === 0 ? [{ sql: 'id >= ?', values: [from?.id ?? ''] }] : []),
    ...(isBefore === 0 ? [{ sql: 'id < ?', values: [before?.id ?? ''] }] : []),
    ...(Math.min(isBehind ?? 0, isBefore ?? 0) < 0 ? [{ sql: '0', values: [] }] : []),
  ];
}

/**
 * A text to be compared in order. Half of a surrogate pair is stored nowhere; of the texts that
 * can be, the first one behind a text with it has U+E000 in the place of that and of the rest.
 */
export function orderable(text: string): string {
  return text.replace(/\p{Surrogate}.*/su, '\ue000');
}
