import {
  comparePositions,
  type EntityFilter,
  type PageRequest,
  type Position,
  type TimeSpan,
} from '../../../domain/list.ts';
import type { Version } from '../../../domain/record.ts';
import type { SqlValue } from '../connection/connection.ts';
import { textForEquality } from '../record-table.ts';
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

/**
 * A row of a page: just the rowid when the rest is to be read when its turn comes. A row that SQLite
 * sorts has its sort key and its id.
 */
export type PageRow = [
  row: number,
  version: Version | null,
  json: string | null,
  ...keyAndId: string[],
];

/** What a list may have to read through for its rows: a part of an index, in that index's order. */
export interface Walk {
  readonly direction: 'asc' | 'desc';
  readonly bounds: Bounds;
  /** Where the row is that is behind the first `rows` of a part. */
  behind(part: Bounds, rows: number): Query;
}

/** How a page or a total is read. */
export interface ListRead {
  /** Undefined where little more is read than what is asked for. */
  readonly walk: Walk | undefined;
  /** @param window the part of the walk to look into */
  query(window?: Bounds): Query;
}

/** How a list finds its rows. */
interface Plan<Sort extends string> {
  readonly equalities: readonly Equality<Sort>[];
  readonly index: string;
  /** The order of that index; undefined where it finds a few rows, by their ids or an email. */
  readonly by: Sort | undefined;
  /** Whether the rows are sorted into an order that is not the index's. */
  readonly isSorted: boolean;
}

function planOf<Filter extends EntityFilter, Sort extends string>(
  { table, sorts, equalities: equalitiesOf }: ListScheme<Filter, Sort>,
  filter: Filter,
  by: Sort,
): Plan<Sort> {
  const equalities = equalitiesOf(filter);
  const [equality] = equalities;
  if (filter.ids !== undefined) {
    const index = `sqlite_autoindex_${table}_1`;
    return { equalities, index, by: undefined, isSorted: true };
  }
  const ordered = equality === undefined ? sorts[by].index : equality.ordered[by];
  if (ordered !== undefined) return { equalities, index: ordered, by, isSorted: false };
  const index = equality?.index ?? '';
  const walked = (Object.keys(sorts) as Sort[]).find((one) => equality?.ordered[one] === index);
  return { equalities, index, by: walked, isSorted: true };
}

/**
 * The rows of a page and one more, which tells whether another page follows. They are read at once,
 * so those of more than their part of the page's bytes come without their record; so do those that
 * SQLite sorts, which is given just their keys.
 *
 * Every query names its index (INDEXED BY), so that no plan hangs on what SQLite guesses of the
 * data: the primary key's for ids, the value's for a filter on one value, otherwise the order's.
 * So every order, and an author's posts by each time, read just the rows of their page. The others
 * walk: they are read window by window (`read-page.ts`). What is not read off an index in its order:
 *
 * - `ids`: at most 100 rows are looked up by the primary key and sorted in memory.
 * - A filter on a name or a title in another order, and an author's posts by title, sort the keys of
 *   the rows that have it, most of them in the index alone. A custom field is like that in all orders
 *   but that of `created_at`.
 * - A span in an order that is not its own is looked for row by row in that order; a span of
 *   `updated_at` in the order of `created_at` in the index alone, where a table is walked.
 */
export function pageRead<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  { filter, order, limit, bytes, after }: PageRequest<Filter, Sort>,
  text: Projection = whole,
): ListRead {
  const plan = planOf(scheme, filter, order.by);
  const { equalities, index, isSorted } = plan;
  const { column } = scheme.sorts[order.by];
  const bounds = boundsOf(order.direction, after, spanOf(filter, order.by));
  const isServed = conditions(filter, equalities.slice(1), [order.by]).length === 0;
  const inOrder = isServed ? undefined : walkOf(scheme, plan, order.direction, bounds);
  const direction = order.direction.toUpperCase();
  const part = text.isShort ? text.sql : `CASE WHEN octet_length(record) <= ? THEN ${text.sql} END`;
  const partValues = [...(text.isShort ? [] : [Math.ceil(bytes / limit)]), ...text.values];
  const found = isSorted ? `rowid, NULL, NULL, ${column}, id` : `rowid, version, ${part}`;
  return {
    walk: isSorted ? wholeWalk(scheme, plan, filter) : inOrder,
    query(window) {
      const walked = window && plan.by;
      const { sql, values } = where([
        ...conditions(filter, equalities, [order.by, walked]),
        ...(walked === order.by ? [] : betweenBounds(scheme, equalities, order.by, bounds)),
        ...betweenBounds(scheme, equalities, walked, window),
      ]);
      return {
        sql: `SELECT ${found} FROM ${scheme.table} INDEXED BY ${index}${sql} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
        values: [...(isSorted ? [] : partValues), ...values, limit + 1],
      };
    },
  };
}

/** The number of rows that match. Where all rows do, or a few, SQLite counts them at once. */
export function totalRead<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
): ListRead {
  const plan = planOf(scheme, filter, totalOrder<Sort>(filter));
  const { equalities, index, by } = plan;
  const isWhole = conditions(filter, equalities).length === 0;
  return {
    walk: isWhole ? undefined : wholeWalk(scheme, plan, filter),
    query(window) {
      const walked = window && by;
      const { sql, values } = where([
        ...conditions(filter, equalities, [walked]),
        ...betweenBounds(scheme, equalities, walked, window),
      ]);
      const indexed = walked === undefined ? '' : ` INDEXED BY ${index}`;
      return { sql: `SELECT count(*) FROM ${scheme.table}${indexed}${sql}`, values };
    },
  };
}

/** The order whose index a total enters by a span; that of `created_at` has both times. */
function totalOrder<Sort extends string>({ createdAt, updatedAt }: EntityFilter): Sort {
  return (updatedAt && !createdAt ? 'updatedAt' : 'createdAt') as Sort;
}

/** A walk through all rows that the plan's index finds. */
function wholeWalk<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  plan: Plan<Sort>,
  filter: Filter,
): Walk | undefined {
  const span = plan.by && spanOf(filter, plan.by);
  return walkOf(scheme, plan, 'asc', boundsOf('asc', undefined, span));
}

function walkOf<Sort extends string>(
  scheme: ListScheme<never, Sort>,
  { equalities, index, by }: Plan<Sort>,
  direction: 'asc' | 'desc',
  bounds: Bounds,
): Walk | undefined {
  if (by === undefined) return undefined;
  const [{ column }, way] = [scheme.sorts[by], direction.toUpperCase()];
  return {
    direction,
    bounds,
    behind(part, rows) {
      const entered = conditions({}, equalities.slice(0, 1));
      const { sql, values } = where([...entered, ...betweenBounds(scheme, equalities, by, part)]);
      return {
        sql: `SELECT ${column}, id FROM ${scheme.table} INDEXED BY ${index}${sql} ORDER BY ${column} ${way}, id ${way} LIMIT 1 OFFSET ?`,
        values: [...values, rows],
      };
    },
  };
}

/** `WHERE` with all conditions, or nothing when there are none. */
function where(all: readonly Query[]): Query {
  const sql = all.map((one) => one.sql).join(' AND ');
  return { sql: sql && ` WHERE ${sql}`, values: all.flatMap((one) => one.values) };
}

/** What the filter says, but for the spans of some columns. */
function conditions<Sort extends string>(
  { ids, createdAt, updatedAt }: EntityFilter,
  equalities: readonly Equality<Sort>[],
  without: readonly (string | undefined)[] = [],
): Query[] {
  return [
    ...(ids ? [anyOf(ids)] : []),
    ...equalities.map(({ column, value }) =>
      value === null
        ? { sql: `${column} IS NULL`, values: [] }
        : { sql: `${column} = ?`, values: [textForEquality(value)] },
    ),
    ...(without.includes('createdAt') ? [] : inSpan('created_at', createdAt)),
    ...(without.includes('updatedAt') ? [] : inSpan('updated_at', updatedAt)),
  ];
}

/**
 * Any of some ids. The list is filled up to a power of two with its last one, so that a hundred
 * lengths share eight statements.
 */
function anyOf(ids: readonly string[]): Query {
  let length = 1;
  while (length < ids.length) length *= 2;
  const values = Array.from({ length }, (_, i) =>
    textForEquality(ids[i] ?? ids.at(-1) ?? '\ud800'),
  );
  return { sql: `id IN (${values.map(() => '?').join(', ')})`, values };
}

function inSpan(column: string, { from, before }: TimeSpan = {}): Query[] {
  return [
    ...(from === undefined ? [] : [{ sql: `${column} >= ?`, values: [textForOrder(from)] }]),
    ...(before === undefined ? [] : [{ sql: `${column} < ?`, values: [textForOrder(before)] }]),
  ];
}

function spanOf({ createdAt, updatedAt }: EntityFilter, by: string): TimeSpan | undefined {
  if (by === 'createdAt') return createdAt;
  return by === 'updatedAt' ? updatedAt : undefined;
}

/** A page's rows are at or behind `from`, and before `before`, whatever its direction. */
export interface Bounds {
  readonly from?: Position | undefined;
  readonly before?: Position | undefined;
}

/**
 * The position that a page begins behind, and the span of the column that it is sorted by.
 *
 * SQLite enters an index by one bound on either side. Where the position and the span bound the
 * same side, the query has only the tighter one: by the other, SQLite would walk to the page.
 */
function boundsOf(direction: 'asc' | 'desc', after?: Position, span: TimeSpan = {}): Bounds {
  // No id is empty, so `''` is before all of them.
  const from = span.from === undefined ? undefined : { key: textForOrder(span.from), id: '' };
  const before = span.before === undefined ? undefined : { key: textForOrder(span.before), id: '' };
  if (after === undefined) return { from, before };
  // A missing email is `''` here; the empty text behind it, and before all others, is a NUL.
  const key = after.key === null ? '' : textForOrder(after.key) || '\0';
  // No record is at a key that had to be replaced: all that have the new one are behind it.
  const id = key === (after.key ?? '') ? textForOrder(after.id) : '';
  // The first text behind another one is that with a NUL at its end.
  const first = { key, id: id === after.id ? `${id}\0` : id };
  if (direction === 'asc') return { from: tighter(first, from, 1), before };
  return { from, before: tighter({ key, id }, before, -1) };
}

function tighter(a: Position, b: Position | undefined, sign: 1 | -1): Position {
  return b !== undefined && comparePositions(b, a) * sign > 0 ? b : a;
}

/** The rows between bounds in an order. */
function betweenBounds<Sort extends string>(
  { sorts }: ListScheme<never, Sort>,
  equalities: readonly Equality<Sort>[],
  by: Sort | undefined,
  { from, before }: Bounds = {},
): Query[] {
  if (by === undefined) return [];
  const { column } = sorts[by];
  const pinned = equalities.find((one) => one.column === column)?.value;
  const end = (sign: '>=' | '<', at: Position | undefined): Query[] => {
    if (at === undefined) return [];
    // Where a filter holds the column to this key, the index is entered by the id.
    const byId = at.key === pinned ? [{ sql: `id ${sign} ?`, values: [at.id] }] : [];
    return [{ sql: `(${column}, id) ${sign} (?, ?)`, values: [at.key, at.id] }, ...byId];
  };
  return [...end('>=', from), ...end('<', before)];
}

/**
 * A text to be compared in order. Half of a surrogate pair is stored nowhere; of the texts that
 * can be, the first one behind a text with it has U+E000 in the place of that and of the rest.
 */
export function textForOrder(text: string): string {
  return text.replace(/\p{Surrogate}.*/su, '\ue000');
}
