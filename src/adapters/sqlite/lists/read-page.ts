import {
  type Condition,
  comparePositions,
  cutPage,
  type Page,
  type Position,
  type SortKey,
} from '../../../domain/lists/list.ts';
import type { Collection, Id, Version } from '../../../domain/records/record.ts';
import type { Connection } from '../connection/connection.ts';
import {
  type ArrayCondition,
  isArrayCondition,
  ListStatements,
  type PlainQuery,
  rangesOf,
  type SqlFragment,
} from './list-statements.ts';

/** A page as plain data, which a worker can send. */
export interface PlainPage extends Omit<Page<never>, 'items'> {
  readonly items: readonly { readonly version: Version; readonly json: string }[];
}

/** The position of a record, and its row unless the row is read later. */
interface Found extends Position {
  readonly version?: Version;
  readonly json?: string | null;
}

/**
 * The most matches to sort, which takes 5 ms. If there are more, it is faster to walk the index of the order until
 * the page is full.
 */
const maxSorted = 2000;

const wholeRecord: SqlFragment = { sql: 'json', values: [] };

export function readPage(
  connection: Connection,
  collection: Collection,
  query: PlainQuery,
): PlainPage {
  const list = new ListStatements(collection, query);
  const recordSql = query.fields ? projectionOf(collection, query.fields) : wholeRecord;
  const byId = `SELECT version, ${recordSql.sql} FROM ${collection} WHERE id = ?`;
  function* records(all: readonly Found[]) {
    for (const { key, id, ...found } of all) {
      const row = found.json
        ? ([found.version, found.json] as const)
        : connection.get<[Version, string]>(byId, ...recordSql.values, id);
      const [version = 0, json = ''] = row ?? [];
      yield { key, id, version, json };
    }
  }
  return connection.transaction('DEFERRED', () => {
    const isIndexOrdered = list.isIndexOrderedRead();
    const start = isIndexOrdered
      ? query.conditions.filter(isArrayCondition)
      : rarestConditions(connection, list, query);
    const element = start.find(isArrayCondition);
    // Elements are in the default order.
    const isWalked = isIndexOrdered || (element && query.order.field === 'createdAt');
    const matches = isWalked ? undefined : sortedMatches(connection, list, query, start);
    const isLater = (one: Position) =>
      !query.after || comparePositions(one, query.after, query.order.direction) > 0;
    const rows =
      matches?.filter(isLater) ?? readAlongIndex(connection, list, query, recordSql, element);
    const { items, next } = cutPage(records(rows), query, ({ key, id }) => ({ key, id }));
    return {
      items,
      next,
      ...(query.total && { total: matches?.length ?? numberOf(connection, list.count(start)) }),
      isProjected: query.fields !== undefined,
    };
  });
}

/**
 * Returns the conditions on the field that the fewest records match, to search by. Returns none if more than `maxSorted`
 * records match on every field. SQLite itself has no statistics, so that its plans never change.
 */
function rarestConditions(
  connection: Connection,
  list: ListStatements,
  { conditions }: PlainQuery,
): readonly Condition[] {
  let rarest: readonly Condition[] = [];
  let fewest = maxSorted + 1;
  for (const group of list.indexedConditions()) {
    const count = numberOf(connection, list.countAtMost(fewest, group));
    if (count < fewest) [rarest, fewest] = [group, count];
  }
  const isNone = rarest.length === 0 && conditions.every(isArrayCondition);
  return isNone ? conditions.slice(0, 1) : rarest;
}

/** Finds all matches and sorts them. Returns undefined if there are too many. */
function sortedMatches(
  connection: Connection,
  list: ListStatements,
  { order }: PlainQuery,
  start: readonly Condition[],
): readonly Position[] | undefined {
  const { sql, values } = list.positions(start);
  const rows = connection.all<[SortKey, Id]>(`${sql} LIMIT ?`, ...values, maxSorted + 1);
  if (rows.length > maxSorted) return undefined;
  return rows
    .map(([key, id]) => ({ key, id }))
    .sort((a, b) => comparePositions(a, b, order.direction));
}

/**
 * Reads the rows of a page along an index, and one more, which tells whether another page follows. JSON that is larger
 * than an equal share of the page's bytes is read later, if it fits.
 */
function readAlongIndex(
  connection: Connection,
  list: ListStatements,
  query: PlainQuery,
  recordSql: SqlFragment,
  element: ArrayCondition | undefined,
): readonly Found[] {
  const record = {
    sql: `version, CASE WHEN octet_length(json) <= ? THEN ${recordSql.sql} END`,
    values: [Math.ceil(query.bytes / query.limit), ...recordSql.values],
  };
  const found: Found[] = [];
  for (const range of rangesOf(query)) {
    const { sql, values } = list.rangeStatement(record, range, element);
    const left = query.limit + 1 - found.length;
    const rows = connection.all<[SortKey, Id, Version, string | null]>(sql, ...values, left);
    found.push(...rows.map(([key, id, version, json]) => ({ key, id, version, json })));
    if (rows.length === left) break;
  }
  return found;
}

function numberOf(connection: Connection, { sql, values }: SqlFragment): number {
  return connection.get<[number]>(sql, ...values)?.[0] ?? 0;
}

/**
 * Returns the JSON of the named fields of a record, each with its text as it was stored. For records of 1 MiB, parsing them in
 * JavaScript takes two to four times as long.
 */
function projectionOf(collection: Collection, fields: readonly string[]): SqlFragment {
  const json = `${collection}.json`;
  return {
    sql: `(SELECT json_group_object(key, ${json} -> fullkey) FROM json_each(${json})
      WHERE key IN (SELECT value FROM json_each(?)))`,
    values: [JSON.stringify(['id', ...fields])],
  };
}
