import { cutPage, type Page, type SortKey } from '../../../domain/lists/list.ts';
import type { Collection, Id, Version } from '../../../domain/records/record.ts';
import type { Connection } from '../connection/connection.ts';
import { expression, type Has, isHas, ListSql, type Sql } from './list-sql.ts';
import { type PlainQuery, rangesOf, splitConditions } from './ranges.ts';

/** A page as plain data: a worker sends an array of strings in half the time of objects. */
export interface PlainPage extends Omit<Page<never>, 'items'> {
  readonly versions: readonly Version[];
  readonly texts: readonly string[];
}

/** The JSON is null if it is larger than an equal share of the page's bytes: then it is read only if it fits. */
type Row = [rowid: number, version: Version, json: string | null];

/**
 * How many matches are sorted, which takes 10 ms. If there are more, it is faster to walk the index of the order until
 * the page is full.
 */
const maxSorted = 4000;

/** With more fields, the expression of a projection could exceed SQLite's limit on its depth. */
const maxFields = 100;

const whole: Sql = { sql: 'json', values: [] };
const counting: Sql = { sql: 'count(*)', values: [] };
const one: Sql = { sql: '1', values: [] };

/** Reads a page in one transaction. */
export function readPage(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): PlainPage {
  const projection = query.fields && projectionOf(collection, query.fields);
  const text = projection ?? whole;
  const list = new ListSql(collection, query);
  return connection.transaction('DEFERRED', () => {
    const strategy = chooseStrategy(connection, list, query);
    function* records() {
      for (const [row, version, part] of rowsOf(connection, list, query, text, strategy)) {
        const single = `SELECT ${text.sql} FROM ${collection} WHERE rowid = ?`;
        const json = part ?? connection.get<[string]>(single, ...text.values, row)?.[0] ?? '';
        yield { row, version, json };
      }
    }
    const { items, next } = cutPage(records(), query, ({ row }) => {
      const columns = `${expression(query.order, collection)}, id`;
      const position = `SELECT ${columns} FROM ${collection} WHERE rowid = ?`;
      const [key = null, id = ''] = connection.get<[SortKey, Id]>(position, row) ?? [];
      return { key, id };
    });
    return {
      versions: items.map(({ version }) => version),
      texts: items.map(({ json }) => json),
      next,
      ...(query.total && { total: numberOf(connection, list.matching(counting, strategy.start)) }),
      isProjected: projection !== undefined,
    };
  });
}

/** How the records of a list are found. */
interface Strategy {
  /** Whether all matches are sorted. Otherwise the index of the order is read until the page is full. */
  readonly isSorted: boolean;
  /** The condition on an array that the fewest records meet. */
  readonly rarest?: Has | undefined;
  /** This condition, if it is the one to find all matches by. */
  readonly start?: Has | undefined;
}

/** SQLite has no statistics to choose by, so that its plans never change. */
function chooseStrategy(connection: Connection, list: ListSql, query: PlainQuery): Strategy {
  const arrays = query.conditions.filter(isHas);
  if (list.isIndexOrderedRead) return { isSorted: false, rarest: arrays[0], start: arrays[0] };
  const counts = arrays.map((condition) => {
    const { sql, values } = list.elementsOf(one, condition);
    return numberOf(connection, {
      sql: `SELECT count(*) FROM (${sql} LIMIT ?)`,
      values: [...values, maxSorted + 1],
    });
  });
  const count = Math.min(...counts);
  const rarest = arrays[counts.indexOf(count)];
  if (count <= maxSorted) return { isSorted: true, rarest, start: rarest };
  if (splitConditions(query).others.every(isHas)) return { isSorted: false, rarest, start: rarest };
  const { sql, values } = list.matching(one);
  const isSorted = !connection.get(`${sql} LIMIT 1 OFFSET ?`, ...values, maxSorted);
  return { isSorted, rarest };
}

/** Returns the rows of a page, and one more, which tells whether another page follows. */
function rowsOf(
  connection: Connection,
  list: ListSql,
  query: PlainQuery,
  text: Sql,
  { isSorted, rarest, start }: Strategy,
): readonly Row[] {
  const columns = {
    sql: `rowid, version, CASE WHEN octet_length(json) <= ? THEN ${text.sql} END`,
    values: [Math.ceil(query.bytes / query.limit), ...text.values],
  };
  let rows: readonly Row[] = [];
  for (const range of rangesOf(query)) {
    const { sql, values } = isSorted
      ? list.sorted(columns, range, start)
      : list.along(columns, range, rarest);
    const left = query.limit + 1 - rows.length;
    const found = connection.all<Row>(sql, ...values, left);
    rows = rows.length === 0 ? found : [...rows, ...found];
    if (found.length === left) break;
  }
  return rows;
}

function numberOf(connection: Connection, { sql, values }: Sql): number {
  return connection.get<[number]>(sql, ...values)?.[0] ?? 0;
}

/**
 * Returns the JSON of the named fields of a record. Returns undefined for names that cannot stand in a
 * path as they are (https://www.sqlite.org/json1.html#path_arguments): then the core cuts the records.
 */
function projectionOf(collection: Collection, fields: readonly string[]): Sql | undefined {
  const others = fields.filter((name) => name !== 'id');
  const isPlain = others.every((name) => /^[^"\\\p{Control}]+$/u.test(name));
  if (!isPlain || others.length > maxFields) return undefined;
  const members = others.map(() => "coalesce(? || (json -> ?), '')");
  return {
    sql: [`'{"id":' || json_quote(${collection}.id)`, ...members, "'}'"].join(' || '),
    values: others.flatMap((name) => [`,"${name}":`, `$."${name}"`]),
  };
}
