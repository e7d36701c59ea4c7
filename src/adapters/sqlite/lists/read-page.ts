import { cutPage, type ListQuery, type Position } from '../../../domain/list.ts';
import type { Collection, Id, Version } from '../../../domain/record.ts';
import type { Connection } from '../connection/connection.ts';
import { countStatement, expression, pageStatements, type Sql } from './list-sql.ts';

/** A page as plain data, which can be sent from a worker. */
export interface PlainPage {
  readonly items: readonly { readonly version: Version; readonly json: string }[];
  readonly next?: Position | undefined;
  readonly total?: number | undefined;
  readonly isProjected: boolean;
}

export type PlainQuery = Omit<ListQuery, 'signal'>;

/** The JSON is null where it is larger than an equal share of the page. */
type Row = [rowid: number, id: Id, key: string | null, version: Version, json: string | null];

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
    for (const [rowid, id, key, version, part] of rowsOf(connection, collection, query, text)) {
      const json = part ?? connection.get<[string]>(single, ...text.values, rowid)?.[0] ?? '';
      yield { id, key, version, json };
    }
  }
  return connection.transaction('DEFERRED', () => {
    const { items, next } = cutPage(records(), query, ({ id, key }) => ({ id, key }));
    const { sql, values } = countStatement(collection, query.conditions);
    return {
      items: items.map(({ version, json }) => ({ version, json })),
      next,
      ...(query.total && { total: connection.get<[number]>(sql, ...values)?.[0] ?? 0 }),
      isProjected: projection !== undefined,
    };
  });
}

/**
 * Returns the rows of a page, and one more, which tells whether another page follows.
 *
 * The rows are found before their JSON is read, so that SQLite sorts short keys where it has to sort. The
 * join keeps the order of the subquery: CROSS JOIN makes it the outer loop
 * (https://www.sqlite.org/optoverview.html#crossjoin).
 */
function rowsOf(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
  text: Sql,
): readonly Row[] {
  const { order, limit, bytes } = query;
  const share = Math.ceil(bytes / limit);
  let rows: readonly Row[] = [];
  for (const { sql, values } of pageStatements(collection, query)) {
    const found = connection.all<Row>(
      `SELECT row, id, ${expression(order)}, version, CASE WHEN octet_length(json) <= ? THEN ${text.sql} END
       FROM (${sql.replace('rowid', 'rowid AS row')}) CROSS JOIN ${collection} ON ${collection}.rowid = row`,
      ...[share, ...text.values, ...values, limit + 1 - rows.length],
    );
    rows = rows.length === 0 ? found : [...rows, ...found];
    if (rows.length > limit) break;
  }
  return rows;
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
