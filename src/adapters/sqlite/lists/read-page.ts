import { cutPage, type ListQuery, type Page } from '../../../domain/list.ts';
import type { Collection, Id, Version } from '../../../domain/record.ts';
import type { Connection } from '../connection/connection.ts';
import { countStatement, expression, pageRanges, type Range, type Sql } from './list-sql.ts';

/** A page as plain data: texts in one list are sent from a worker in half the time of objects. */
export interface PlainPage extends Omit<Page<never>, 'items'> {
  readonly versions: readonly Version[];
  readonly texts: readonly string[];
}

export type PlainQuery = Omit<ListQuery, 'signal'>;

/** The JSON is null where it is larger than an equal share of the page. */
type Row = [rowid: number, version: Version, json: string | null];

/** The JSON of a record as a whole. */
const whole: Sql = { sql: 'json', values: [] };

/** Reads a page in one transaction. */
export function readPage(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): PlainPage {
  const projection = query.fields && projectionOf(query.fields);
  const text = projection ?? whole;
  const single = `SELECT ${text.sql} FROM ${collection} WHERE rowid = ?`;
  function* records() {
    for (const [rowid, version, part] of rowsOf(connection, collection, query, text)) {
      const json = part ?? connection.get<[string]>(single, ...text.values, rowid)?.[0] ?? '';
      yield { rowid, version, json };
    }
  }
  const position = `SELECT ${expression(query.order)}, id FROM ${collection} WHERE rowid = ?`;
  return connection.transaction('DEFERRED', () => {
    const { items, next } = cutPage(records(), query, ({ rowid }) => {
      const [key = null, id = ''] = connection.get<[string | null, Id]>(position, rowid) ?? [];
      return { key, id };
    });
    const count = countStatement(collection, query.conditions);
    return {
      versions: items.map(({ version }) => version),
      texts: items.map(({ json }) => json),
      next,
      ...(query.total && { total: connection.get<[number]>(count.sql, ...count.values)?.[0] }),
      isProjected: projection !== undefined,
    };
  });
}

/** Returns the rows of a page, and one more, which tells whether another page follows. */
function rowsOf(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
  text: Sql,
): readonly Row[] {
  const { limit, bytes } = query;
  const row = {
    sql: `rowid, version, CASE WHEN octet_length(json) <= ? THEN ${text.sql} END`,
    values: [Math.ceil(bytes / limit), ...text.values],
  };
  let rows: readonly Row[] = [];
  for (const range of pageRanges(collection, query)) {
    const { sql, values } = statementOf(connection, collection, range, row);
    const found = connection.all<Row>(sql, ...values, limit + 1 - rows.length);
    rows = rows.length === 0 ? found : [...rows, ...found];
    if (rows.length > limit) break;
  }
  return rows;
}

/**
 * How many rows are sorted at most. With more, it is faster to walk the index of the order until the page
 * is full. Sorting 20,000 rows takes 10 ms where an index has all that is needed, as does sorting 4,000 others.
 */
const sorted = { inIndex: 20_000, others: 4000 };

/**
 * Chooses how to find the rows of a range: in the order of an index; by sorting those that match; or, if
 * these are many, along the index of the order. SQLite has no statistics to choose between the last two.
 */
function statementOf(connection: Connection, collection: Collection, range: Range, row: Sql): Sql {
  const keys = range.select({ sql: 'rowid AS row', values: [] });
  const plan = connection.planOf(keys.sql);
  if (!plan.includes('TEMP B-TREE')) return range.select(row);
  const { sql, values } = range.isBroad;
  const most = plan.includes('COVERING') ? sorted.inIndex : sorted.others;
  if (connection.get(sql, ...values, most) !== undefined) return range.walk(row);
  // Sorts without the JSON. CROSS JOIN makes the sorted rows the outer loop, which keeps their order
  // (https://www.sqlite.org/optoverview.html#crossjoin).
  return {
    sql: `SELECT ${row.sql} FROM (${keys.sql}) CROSS JOIN ${collection} ON rowid = row`,
    values: [...row.values, ...keys.values],
  };
}

/** With more fields, SQLite would find the expression too deep. */
const maxFields = 100;

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
