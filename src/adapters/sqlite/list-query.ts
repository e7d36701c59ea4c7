import type { EntityFilter, Order, PageRequest } from '../../domain/page.ts';
import { anyOf, type Condition, equals, possible, where, within } from './conditions.ts';
import { afterInstant, afterPinned, afterText } from './keyset.ts';

/** What rows can be sorted by, and the index on that and the id. */
export interface SortColumn {
  readonly column: string;
  readonly index: string;
}

/** A filter that holds a column to one value. */
export interface Equality<Sort extends string> {
  readonly column: string;
  readonly value: string | null;
  /** The index that finds the rows with this value, in the order asked for if there is one. */
  index(by: Sort): string;
}

/** How lists of a kind of record are asked for. */
export interface ListScheme<Filter extends EntityFilter, Sort extends string> {
  readonly table: 'users' | 'posts';
  readonly sorts: Readonly<Record<Sort, SortColumn>>;
  /** The filters on one value, the one that leaves the fewest rows first. */
  equalities(filter: Filter): readonly Equality<Sort>[];
}

const instants = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/**
 * The rows of a page and one more, which tells whether another page follows.
 *
 * Every query names its index (INDEXED BY), so that no plan hangs on what SQLite guesses of the
 * data: the primary key's for ids, the value's for a filter on one value, otherwise the order's.
 * So every order, and every filter in the order of `created_at`, reads just the rows of its page.
 * What is not so:
 *
 * - `ids`: at most 100 rows are looked up by the primary key and sorted in memory.
 * - A span of `updated_at` in the order of `created_at`: no index has both orders. The one walked
 *   carries both, so what is outside of the span is skipped without reading its row.
 * - Other pairs: a filter on one value sorts the rows that have it; a span in an order that is not
 *   its own is looked for row by row in that order.
 *
 * @returns undefined when nothing can match
 */
export function pageQuery<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
  { order, limit, after }: PageRequest<Order<Sort>>,
): Condition | undefined {
  const equalities = scheme.equalities(filter);
  const checked = possible(filter, equalities);
  if (checked === undefined) return undefined;

  const { by, direction } = order;
  const { column, index: sortIndex } = scheme.sorts[by];
  const pinned = equalities.find((equality) => equality.column === column)?.value;
  const walk = isInstant(by)
    ? afterInstant(column, direction, after, filter[by])
    : pinned
      ? afterPinned(pinned, direction, after)
      : afterText(column, direction, after);
  if (walk === undefined) return undefined;

  const { sql, values } = where([...conditions(checked, equalities, by), ...walk]);
  const index = checked.ids
    ? `sqlite_autoindex_${scheme.table}_1`
    : (equalities[0]?.index(by) ?? sortIndex);
  const way = direction === 'asc' ? 'ASC' : 'DESC';
  return {
    sql: `SELECT * FROM ${scheme.table} INDEXED BY ${index}${sql} ORDER BY ${column} ${way}, id ${way} LIMIT ?`,
    values: [...values, limit + 1],
  };
}

/** The number of rows that match, as `total`; undefined when nothing can. */
export function totalQuery<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
): Condition | undefined {
  const equalities = scheme.equalities(filter);
  const checked = possible(filter, equalities);
  if (checked === undefined) return undefined;
  const { sql, values } = where(conditions(checked, equalities));
  return { sql: `SELECT count(*) AS total FROM ${scheme.table}${sql}`, values };
}

/** What the filter says, but for the span of the column that is sorted by. */
function conditions<Sort extends string>(
  { ids, createdAt, updatedAt }: EntityFilter,
  equalities: readonly Equality<Sort>[],
  by?: Sort,
): Condition[] {
  return [
    ...(ids ? [anyOf(ids)] : []),
    ...equalities.map(({ column, value }) => equals(column, value)),
    ...(by === 'createdAt' ? [] : within(instants.createdAt, createdAt)),
    ...(by === 'updatedAt' ? [] : within(instants.updatedAt, updatedAt)),
  ];
}

function isInstant(by: string): by is keyof typeof instants {
  return by in instants;
}
