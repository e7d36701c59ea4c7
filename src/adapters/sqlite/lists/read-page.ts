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

/** A record as it is stored, and its position. */
interface Found extends Position {
  readonly version: Version;
  readonly json: string;
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
  const recordAt = ({ key, id }: Position): Found => {
    const row = connection.get<[Version, string]>(byId, ...recordSql.values, id);
    const [version = 0, json = ''] = row ?? [];
    return { key, id, version, json };
  };
  return connection.transaction('DEFERRED', () => {
    const isIndexOrdered = list.isIndexOrderedRead();
    const driving = isIndexOrdered
      ? query.conditions.filter(isArrayCondition)
      : rarestConditions(connection, list, query);
    const element = driving.find(isArrayCondition);
    // Elements are in the default order.
    const isWalked = isIndexOrdered || (element && query.order.field === 'createdAt');
    const matches = isWalked ? undefined : sortedMatches(connection, list, query, driving);
    const isLater = (one: Position) =>
      !query.after || comparePositions(one, query.after, query.order.direction) > 0;
    const records =
      matches?.filter(isLater).values().map(recordAt) ??
      readAlongIndex(connection, list, query, recordSql, element);
    const { items, next } = cutPage(records, query, ({ key, id }) => ({ key, id }));
    return {
      items,
      next,
      ...(query.total && { total: matches?.length ?? numberOf(connection, list.count(driving)) }),
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
  driving: readonly Condition[],
): readonly Position[] | undefined {
  const { sql, values } = list.positions(driving);
  const rows = connection.all<[SortKey, Id]>(`${sql} LIMIT ?`, ...values, maxSorted + 1);
  if (rows.length > maxSorted) return undefined;
  return rows
    .map(([key, id]) => ({ key, id }))
    .sort((a, b) => comparePositions(a, b, order.direction));
}

/** Reads records along an index, one by one, because the page can be full after a few large ones. */
function* readAlongIndex(
  connection: Connection,
  list: ListStatements,
  query: PlainQuery,
  recordSql: SqlFragment,
  element: ArrayCondition | undefined,
): Generator<Found> {
  const record = { sql: `version, ${recordSql.sql}`, values: recordSql.values };
  for (const range of rangesOf(query)) {
    const { sql, values } = list.rangeStatement(record, range, element);
    const rows = connection.iterate<[SortKey, Id, Version, string]>(
      sql,
      ...values,
      query.limit + 1,
    );
    for (const [key, id, version, json] of rows) yield { key, id, version, json };
  }
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
