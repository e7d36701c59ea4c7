import type { EntityFilter } from '../../../domain/list.ts';
import { prefixSpan, textKey } from '../../../domain/text.ts';
import type { Connection } from '../connection/connection.ts';
import { type Held, inSpan, type Span, where } from './conditions.ts';

/** A filter that holds a column, or an expression, to one value. */
export interface Equality<Sort extends string> extends Held {
  /** The index that finds the rows with this value. */
  readonly index: string;
  /** Those that find them in an order. */
  readonly ordered: Partial<Readonly<Record<Sort, string>>>;
  /** Whether most rows may have this value: then another one finds fewer. */
  readonly isBroad?: boolean;
  /** What has to hold as well: the value is the key of several texts, and one of them is wanted. */
  readonly exactly?: Held;
}

/** How lists of one table are asked for. */
export interface ListScheme<Filter extends EntityFilter, Sort extends string> {
  readonly table: 'users' | 'posts';
  /** What rows can be sorted by, and the index on that and the id. */
  readonly sorts: Readonly<Record<Sort, { readonly column: string; readonly index: string }>>;
  /** The fields, beside the id, and the column (or expression) that has the same value. */
  readonly fields: Readonly<Record<string, string>>;
  /** The filters on one value, the one that leaves the fewest rows first. */
  equalities(filter: Filter): readonly Equality<Sort>[];
  /** The spans that the filter holds columns to, by what has these columns as its sort key. */
  spans(filter: Filter): Partial<Readonly<Record<Sort, Span | undefined>>>;
}

/** A span of a column whose nulls, stored as `''`, are in no span. */
export function withoutNulls(span: Span | undefined): Span | undefined {
  return span && { ...span, from: span.from || '\0' };
}

/** The keys of the texts that begin with this one. */
export function beginsWith(prefix: string | undefined): Span | undefined {
  return prefix === undefined ? undefined : withoutNulls(prefixSpan(textKey(prefix)));
}

/** How a list finds its rows. */
export interface Plan<Sort extends string> {
  readonly index: string;
  /** The filter on one value that the index is entered by. */
  readonly entered: Equality<Sort> | undefined;
  /** The order of the index; undefined where it finds a few rows, by their ids or an email. */
  readonly by: Sort | undefined;
  /** Whether the rows are sorted into an order that is not the index's. */
  readonly isSorted: boolean;
}

/** @param span the order in which the rows are a part of the index that is worth sorting */
export function planOf<Filter extends EntityFilter, Sort extends string>(
  { table, sorts, equalities }: ListScheme<Filter, Sort>,
  filter: Filter,
  by: Sort,
  span?: Sort,
): Plan<Sort> {
  if (filter.ids !== undefined) {
    const index = `sqlite_autoindex_${table}_1`;
    return { index, entered: undefined, by: undefined, isSorted: true };
  }
  const [entered] = span === undefined ? equalities(filter) : [];
  if (entered === undefined) {
    const walked = span ?? by;
    return { index: sorts[walked].index, entered, by: walked, isSorted: walked !== by };
  }
  const ordered = entered.ordered[by];
  if (ordered !== undefined) return { index: ordered, entered, by, isSorted: false };
  const { index } = entered;
  const walked = (Object.keys(sorts) as Sort[]).find((one) => entered.ordered[one] === index);
  return { index, entered, by: walked, isSorted: true };
}

/** How many rows are sorted sooner than they are looked for in another order. */
const fewRows = 5000;

/** The order in which a filter leaves few rows, all beside each other; other than by `by`. */
export function narrowSpan<Filter extends EntityFilter, Sort extends string>(
  connection: Connection,
  { table, sorts, equalities, spans }: ListScheme<Filter, Sort>,
  filter: Filter,
  by?: Sort,
): Sort | undefined {
  if (filter.ids !== undefined || equalities(filter).some(({ isBroad }) => !isBroad))
    return undefined;
  const held = spans(filter);
  return (Object.keys(sorts) as Sort[]).find((one) => {
    const span = held[one];
    if (span === undefined || one === by) return false;
    const { column, index } = sorts[one];
    const { sql, values } = where(inSpan(column, span));
    const behind = `SELECT 1 FROM ${table} INDEXED BY ${index}${sql} LIMIT 1 OFFSET ${fewRows}`;
    return connection.get(behind, ...values) === undefined;
  });
}
