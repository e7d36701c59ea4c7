import { cutPage, type Page, type SortKey } from '../../../domain/lists/list.ts';
import type { Collection, Id, Version } from '../../../domain/records/record.ts';
import type { Connection } from '../connection/connection.ts';
import {
  alongOrder,
  amongElements,
  countElements,
  expression,
  isHas,
  type PlainQuery,
  rangesOf,
  type Sql,
  select,
  type Term,
  termFor,
} from './list-sql.ts';

/** A page as plain data: a worker sends an array of strings in half the time of objects. */
export interface PlainPage extends Omit<Page<never>, 'items'> {
  readonly versions: readonly Version[];
  readonly texts: readonly string[];
}

/** The JSON is null if it is larger than an equal share of the page's bytes: then it is read only if it fits. */
type Row = [rowid: number, version: Version, json: string | null];

/**
 * The maximum number of sorted rows: with a covering index, or by reading the rows.
 * Both take about 10 ms. With more rows it is faster to walk the index of the order until the page is full.
 */
const maxSorted = { inIndex: 20_000, others: 4000 };

/** With more fields, the expression of a projection could exceed SQLite's limit on its depth. */
const maxFields = 100;

const whole: Sql = { sql: 'json', values: [] };
const rowid: Sql = { sql: 'rowid AS row', values: [] };

/** Reads a page in one transaction. */
export function readPage(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): PlainPage {
  const projection = query.fields && projectionOf(query.fields);
  const text = projection ?? whole;
  return connection.transaction('DEFERRED', () => {
    const rarest = rarestElement(connection, collection, query);
    function* records() {
      for (const [row, version, part] of rowsOf(connection, collection, query, text, rarest)) {
        const single = `SELECT ${text.sql} FROM ${collection} WHERE rowid = ?`;
        const json = part ?? connection.get<[string]>(single, ...text.values, row)?.[0] ?? '';
        yield { row, version, json };
      }
    }
    const { items, next } = cutPage(records(), query, ({ row }) => {
      const position = `SELECT ${expression(query.order)}, id FROM ${collection} WHERE rowid = ?`;
      const [key = null, id = ''] = connection.get<[SortKey, Id]>(position, row) ?? [];
      return { key, id };
    });
    return {
      versions: items.map(({ version }) => version),
      texts: items.map(({ json }) => json),
      next,
      ...(query.total && { total: countMatches(connection, collection, query, rarest) }),
      isProjected: projection !== undefined,
    };
  });
}

function countMatches(
  connection: Connection,
  collection: Collection,
  { conditions }: PlainQuery,
  rarest: RarestElement | undefined,
): number {
  const terms = conditions.map((condition) => termFor(collection, condition));
  if (rarest !== undefined) terms.push(rarest.term);
  const { sql, values } = select({ sql: 'count(*)', values: [] }, collection, terms);
  const [count] = connection.get<[number]>(sql, ...values) ?? [0];
  return count;
}

/**
 * Returns true for a page that is read from one index, in order, without rows that don't match. That takes
 * 0.3 ms per 100 records, however deep the page is.
 */
export function isQuick(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): boolean {
  if (query.total) return false;
  try {
    return rangesOf(collection, query).every((terms) => {
      const plan = connection.planOf(select(rowid, collection, terms, query.order).sql);
      const used = plan.split('?').length - 1; // As in `SEARCH posts USING INDEX i (a=? AND b<?)`.
      return used === terms.length && !isSorted(plan);
    });
  } catch {
    return true; // Reading the page reports what is wrong.
  }
}

function isSorted(plan: string): boolean {
  return plan.includes('TEMP B-TREE');
}

/** Returns the rows of a page, and one more, which tells whether another page follows. */
function rowsOf(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
  text: Sql,
  rarest: RarestElement | undefined,
): readonly Row[] {
  const columns = {
    sql: `rowid, version, CASE WHEN octet_length(json) <= ? THEN ${text.sql} END`,
    values: [Math.ceil(query.bytes / query.limit), ...text.values],
  };
  let rows: readonly Row[] = [];
  for (const range of rangesOf(collection, query)) {
    const { sql, values } = statementOf(connection, collection, query, range, columns, rarest);
    const left = query.limit + 1 - rows.length;
    const found = connection.all<Row>(sql, ...values, left);
    rows = rows.length === 0 ? found : [...rows, ...found];
    if (found.length === left) break;
  }
  return rows;
}

interface RarestElement {
  /** How many records have the element, counted up to one more than are sorted. */
  readonly count: number;
  readonly term: Term;
}

/** Finds the condition on an array that the fewest records meet. Its term tests the other ones on these records. */
function rarestElement(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): RarestElement | undefined {
  const counted = query.conditions.filter(isHas).map((condition) => {
    const { sql, values } = countElements(collection, condition, maxSorted.others + 1);
    const [count] = connection.get<[number]>(sql, ...values) ?? [0];
    return { condition, count };
  });
  const [rarest, ...others] = counted.sort((a, b) => a.count - b.count);
  if (rarest === undefined) return undefined;
  const { condition, count } = rarest;
  const rest = others.map((one) => one.condition);
  return { count, term: amongElements(collection, condition, rest) };
}

/**
 * Chooses how to find the rows of a range: in the order of an index; by sorting those that match; or, if
 * these are many, along the index of the order. SQLite has no statistics to choose between the last two.
 */
function statementOf(
  connection: Connection,
  collection: Collection,
  { order }: PlainQuery,
  range: readonly Term[],
  columns: Sql,
  rarest: RarestElement | undefined,
): Sql {
  const isFew = rarest !== undefined && rarest.count <= maxSorted.others;
  const terms = isFew ? [...range, rarest.term] : range;
  const keys = select(rowid, collection, terms, order);
  const plan = connection.planOf(keys.sql);
  if (isSorted(plan)) {
    const maxRows = plan.includes('COVERING') ? maxSorted.inIndex : maxSorted.others;
    const match = select({ sql: '1', values: [] }, collection, terms);
    if (
      isFew ||
      connection.get(`${match.sql} LIMIT 1 OFFSET ?`, ...match.values, maxRows) === undefined
    ) {
      // Sorts without the JSON. CROSS JOIN makes the sorted rows the outer loop, which keeps their order
      // (https://www.sqlite.org/optoverview.html#crossjoin).
      return {
        sql: `SELECT ${columns.sql} FROM (${keys.sql} LIMIT ?) CROSS JOIN ${collection} ON rowid = row`,
        values: [...columns.values, ...keys.values],
      };
    }
  }
  const { sql, values } = select(
    columns,
    collection,
    isSorted(plan) ? alongOrder(terms, order) : terms,
    order,
  );
  return { sql: `${sql} LIMIT ?`, values };
}

/**
 * Returns the JSON of the named fields of a record. Returns undefined for names that cannot stand in a
 * path as they are (https://www.sqlite.org/json1.html#path_arguments): then the core cuts the records.
 */
function projectionOf(fields: readonly string[]): Sql | undefined {
  const others = fields.filter((name) => name !== 'id');
  const isPlain = others.every((name) => /^[^"\\\p{Control}]+$/u.test(name));
  if (!isPlain || others.length > maxFields) return undefined;
  const members = others.map(() => "coalesce(? || (json -> ?), '')");
  return {
    sql: [`'{"id":' || json_quote(id)`, ...members, "'}'"].join(' || '),
    values: others.flatMap((name) => [`,"${name}":`, `$."${name}"`]),
  };
}
