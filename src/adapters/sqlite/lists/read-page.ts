import {
  cutPage,
  type EntityFilter,
  type Order,
  type Page,
  type PageRequest,
} from '../../../domain/list.ts';
import { type Version, VersionedRecord } from '../../../domain/record.ts';
import { compareText } from '../../../domain/text.ts';
import type { Connection } from '../connection/connection.ts';
import type { Query } from './conditions.ts';
import { type ListRead, type PageRow, pageRead, totalRead } from './lists.ts';
import { type ListScheme, narrowSpan } from './plan.ts';
import { projection, whole } from './projection.ts';

/** Reads a page in steps of few milliseconds, all of them in the transaction that is open. */
export function* readPage<R, Filter extends EntityFilter, Sort extends string>(
  connection: Connection,
  scheme: ListScheme<Filter, Sort>,
  request: PageRequest<Filter, Sort>,
): Generator<undefined, Page<R>> {
  const { order, limit, bytes, filter, fields } = request;
  const cut = fields && projection(scheme.fields, fields);
  const text = cut ?? whole;
  const record = `SELECT record_version, ${text.sql} FROM ${scheme.table} WHERE rowid = ?`;
  const found: { row: number; version: Version; json: string }[] = [];
  let characters = 0;
  let span: Sort | undefined;
  let rows = yield* findRows(connection, pageRead(scheme, request, text), order, limit, () => {
    span = narrowSpan(connection, scheme, filter, order.by);
    return span !== undefined;
  });
  if (span !== undefined) {
    rows = yield* findRows(connection, pageRead(scheme, request, text, span), order, limit);
  }
  for (let [row, version, json] of rows) {
    if (version === null || json === null) {
      yield;
      [version, json] = connection.get<[Version, string]>(record, ...text.values, row) ?? [0, ''];
    }
    found.push({ row, version, json });
    characters += json.length;
    // A character has one byte at least: the page ends before this record, or it is the first.
    if (found.length > 1 && characters > bytes) break;
  }
  const position = `SELECT ${scheme.sorts[order.by].column}, id FROM ${scheme.table} WHERE rowid = ?`;
  const { items, next } = cutPage(found, request, ({ row }) => {
    const [key, id] = connection.get<[string, string]>(position, row) ?? ['', ''];
    return { key: key === '' ? null : key, id }; // What is missing is '' in its order.
  });
  return {
    items: items.map(({ json, version }) => new VersionedRecord<R>(json, version)),
    next,
    ...(request.total && { total: yield* count(connection, scheme, filter) }),
    isProjected: cut !== undefined,
  };
}

/** @param isInVain asked when the first window does not have the page: true to leave it at that */
function* findRows(
  connection: Connection,
  read: ListRead,
  { direction }: Order<string>,
  limit: number,
  isInVain = () => false,
): Generator<undefined, readonly PageRow[]> {
  const sign = direction === 'asc' ? 1 : -1;
  let rows: readonly PageRow[] = [];
  let isFirst = true;
  // Where most rows match, the first window has the whole page.
  yield* inWindows(connection, read, 2 * limit + 50, ({ sql, values }) => {
    const found = connection.all<PageRow>(sql, ...values);
    rows = rows.length === 0 ? found : [...rows, ...found];
    const isInOrder = rows[0]?.[3] === undefined;
    if (isInOrder && rows.length > limit) return true;
    if (isFirst && isInVain()) return true;
    isFirst = false;
    if (isInOrder) return false;
    rows = rows
      .toSorted(([, , , a = '', x = ''], [, , , b = '', y = '']) => {
        return sign * (compareText(a, b) || compareText(x, y));
      })
      .slice(0, limit + 1);
    return false;
  });
  return rows.slice(0, limit + 1);
}

function* count<Filter extends EntityFilter, Sort extends string>(
  connection: Connection,
  scheme: ListScheme<Filter, Sort>,
  filter: Filter,
): Generator<undefined, number> {
  const read = totalRead(scheme, filter, narrowSpan(connection, scheme, filter));
  let total = 0;
  yield* inWindows(connection, read, 1000, ({ sql, values }) => {
    total += connection.get<[number]>(sql, ...values)?.[0] ?? 0;
    return false;
  });
  return total;
}

/** How many rows a window has at least, and how many milliseconds it should take. */
const least = { rows: 50, ms: 4 };

/**
 * Reads a walk window by window, each of so many rows of the index as are looked through in few
 * milliseconds, whether they match or not.
 *
 * @param visit reads a window; true when no more are needed
 */
function* inWindows(
  connection: Connection,
  { walk, query }: ListRead,
  firstRows: number,
  visit: (query: Query) => boolean,
): Generator<undefined, void> {
  if (walk === undefined) {
    visit(query());
    return;
  }
  let [rest, rows] = [walk.bounds, firstRows];
  for (;;) {
    const start = performance.now();
    const { sql, values } = walk.behind(rest, rows);
    const [key, id] = connection.get<[string, string]>(sql, ...values) ?? [];
    if (key === undefined || id === undefined) {
      visit(query(rest));
      return;
    }
    // Downwards, the row at the end is the first of the rest: the end is just above it.
    const isUp = walk.direction === 'asc';
    const end = { key, id: isUp ? id : `${id}\0` };
    if (visit(query({ ...rest, [isUp ? 'before' : 'from']: end }))) return;
    rest = { ...rest, [isUp ? 'from' : 'before']: end };
    const ms = performance.now() - start;
    if (ms < least.ms) rows *= 2;
    else if (ms > 2 * least.ms) rows = Math.max(rows >> 1, least.rows);
    yield;
  }
}
