import type { EntityFilter, PageRequest } from '../../../domain/list.ts';
import type { Version } from '../../../domain/record.ts';
import {
  anyOf,
  type Bounds,
  betweenBounds,
  boundsOf,
  holds,
  inSpan,
  type Query,
  where,
} from './conditions.ts';
import { type ListScheme, type Plan, planOf } from './plan.ts';
import { type Projection, whole } from './projection.ts';

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

/**
 * The rows of a page and one more, which tells whether another page follows. They are read at once,
 * so those of more than their part of the page's bytes come without their record; so do those that
 * SQLite sorts, which is given just their keys.
 *
 * Every query names its index (INDEXED BY), so that no plan hangs on what SQLite guesses of the
 * data: the primary key's for ids, the value's for a filter on one value, otherwise the order's.
 * So every order, and an author's posts as they were made or published, read just the rows of their
 * page. The others walk: they are read window by window (`read-page.ts`). What is not read off an index
 * in its order:
 *
 * - `ids`: at most 100 rows are looked up by the primary key and sorted in memory.
 * - A filter on a name or a title in another order, and an author's posts in the others, sort the keys
 *   of the rows that have it. A custom field is like that in all orders but that of `created_at`.
 * - A span (of time, or of what begins with a text) in an order that is not its own is looked for
 *   row by row in that order. Where the first window does not have the page, and the span has few
 *   rows, they are sorted (`narrowSpan`).
 *
 * @param span the order of the index in which few rows are to be sorted
 */
export function pageRead<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  { filter, order, limit, bytes, after }: PageRequest<Filter, Sort>,
  text: Projection = whole,
  span?: Sort,
): ListRead {
  const plan = planOf(scheme, filter, order.by, span);
  const { index, isSorted } = plan;
  const { column } = scheme.sorts[order.by];
  const bounds = boundsOf(order.direction, after, scheme.spans(filter)[order.by]);
  const isServed = conditions(scheme, filter, [order.by], plan).length === 0;
  const inOrder = isServed ? undefined : walkOf(scheme, plan, order.direction, bounds);
  const direction = order.direction.toUpperCase();
  const part = text.isShort ? text.sql : `CASE WHEN octet_length(record) <= ? THEN ${text.sql} END`;
  const partValues = [...(text.isShort ? [] : [Math.ceil(bytes / limit)]), ...text.values];
  const found = isSorted ? `rowid, NULL, NULL, ${column}, id` : `rowid, record_version, ${part}`;
  return {
    walk: isSorted ? wholeWalk(scheme, plan, filter) : inOrder,
    query(window) {
      const walked = window && plan.by;
      const { sql, values } = where([
        ...conditions(scheme, filter, [order.by, walked]),
        ...(walked === order.by ? [] : between(scheme, filter, order.by, bounds)),
        ...between(scheme, filter, walked, window),
      ]);
      return {
        sql: `SELECT ${found} FROM ${scheme.table} INDEXED BY ${index}${sql} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
        values: [...(isSorted ? [] : partValues), ...values, limit + 1],
      };
    },
  };
}

/**
 * The number of rows that match. Where all rows do, or a few, SQLite counts them at once.
 *
 * @param narrow the order of the index in which the filter leaves few rows
 */
export function totalRead<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
  narrow?: Sort,
): ListRead {
  const spans = scheme.spans(filter);
  const sorts = Object.keys(scheme.sorts) as Sort[];
  const by = sorts.find((one) => spans[one] !== undefined) ?? ('createdAt' as Sort);
  const plan = planOf(scheme, filter, by, narrow);
  const isWhole = conditions(scheme, filter).length === 0;
  return {
    walk: isWhole ? undefined : wholeWalk(scheme, plan, filter),
    query(window) {
      const walked = window && plan.by;
      const { sql, values } = where([
        ...conditions(scheme, filter, [walked]),
        ...between(scheme, filter, walked, window),
      ]);
      const indexed = walked === undefined ? '' : ` INDEXED BY ${plan.index}`;
      return { sql: `SELECT count(*) FROM ${scheme.table}${indexed}${sql}`, values };
    },
  };
}

/** A walk through all rows that the plan's index finds. */
function wholeWalk<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  plan: Plan<Sort>,
  filter: Filter,
): Walk | undefined {
  const span = plan.by && scheme.spans(filter)[plan.by];
  return walkOf(scheme, plan, 'asc', boundsOf('asc', undefined, span));
}

function walkOf<Sort extends string>(
  { table, sorts }: ListScheme<never, Sort>,
  { entered, index, by }: Plan<Sort>,
  direction: 'asc' | 'desc',
  bounds: Bounds,
): Walk | undefined {
  if (by === undefined) return undefined;
  const [{ column }, way] = [sorts[by], direction.toUpperCase()];
  return {
    direction,
    bounds,
    behind(part, rows) {
      const pinned = entered?.column === column ? entered.value : undefined;
      const { sql, values } = where([
        ...(entered === undefined ? [] : [holds(entered)]),
        ...betweenBounds(column, part, pinned),
      ]);
      return {
        sql: `SELECT ${column}, id FROM ${table} INDEXED BY ${index}${sql} ORDER BY ${column} ${way}, id ${way} LIMIT 1 OFFSET ?`,
        values: [...values, rows],
      };
    },
  };
}

/**
 * What the filter says.
 *
 * @param without what the spans are left out of
 * @param plan an index that is entered by a value, which is left out as well
 */
function conditions<Filter extends EntityFilter, Sort extends string>(
  { sorts, equalities, spans }: ListScheme<Filter, Sort>,
  filter: Filter,
  without: readonly (Sort | undefined)[] = [],
  plan?: Plan<Sort>,
): Query[] {
  const held = spans(filter);
  const others = (Object.keys(sorts) as Sort[]).filter((by) => !without.includes(by));
  return [
    ...(filter.ids ? [anyOf(filter.ids)] : []),
    ...equalities(filter).flatMap((one) => [
      ...(one.column === plan?.entered?.column ? [] : [holds(one)]),
      ...(one.exactly ? [holds(one.exactly)] : []),
    ]),
    ...others.flatMap((by) => inSpan(sorts[by].column, held[by])),
  ];
}

/** The rows between bounds in an order. */
function between<Filter extends EntityFilter, Sort extends string>(
  { sorts, equalities }: ListScheme<Filter, Sort>,
  filter: Filter,
  by: Sort | undefined,
  bounds: Bounds = {},
): Query[] {
  if (by === undefined) return [];
  const { column } = sorts[by];
  const pinned = equalities(filter).find((one) => one.column === column)?.value;
  return betweenBounds(column, bounds, pinned);
}
