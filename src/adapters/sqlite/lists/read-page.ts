import { cutPage, type EntityFilter, type Page, type PageRequest } from '../../../domain/list.ts';
import { type Version, VersionedRecord } from '../../../domain/record.ts';
import { compareText } from '../../../domain/text.ts';
import type { Connection } from '../connection/connection.ts';
import {
  type Bounds,
  type ListScheme,
  type PageRow,
  pageQuery,
  pageWalk,
  positionQuery,
  totalQuery,
  totalWalk,
  type Walk,
} from './lists.ts';
import { type Projection, projection, whole } from './projection.ts';

/** A record of a list, with its rowid. */
class Listed<R> extends VersionedRecord<R> {
  readonly row: number;

  constructor(json: string, version: Version, row: number) {
    super(json, version);
    this.row = row;
  }
}

/** Reads a page in steps of few milliseconds, all of them in the transaction that is open. */
export function* readPage<R, Filter extends EntityFilter, Sort extends string>(
  connection: Connection,
  scheme: ListScheme<Filter, Sort>,
  request: PageRequest<Filter, Sort>,
): Generator<undefined, Page<R>> {
  const cut = request.fields && projection(scheme.fields, request.fields);
  const text = cut ?? whole;
  const read = `SELECT version, ${text.sql} FROM ${scheme.table} WHERE rowid = ?`;
  const items: Listed<R>[] = [];
  let characters = 0;
  for (const [row, version, json] of yield* findRows(connection, scheme, request, text)) {
    if (version !== null && json !== null) items.push(new Listed<R>(json, version, row));
    else {
      yield;
      const [found] = connection.all<[Version, string]>(read, ...text.values, row);
      if (found !== undefined) items.push(new Listed<R>(found[1], found[0], row));
    }
    characters += items.at(-1)?.json.length ?? 0;
    // A character has one byte at least: the page ends before this record, or it is the first.
    if (items.length > 1 && characters > request.bytes) break;
  }
  const page = cutPage(items, request, ({ row }) => {
    const { sql, values } = positionQuery(scheme, request.order.by, row);
    const [key, id] = connection.get<[string, string]>(sql, ...values) ?? ['', ''];
    return { key: key === '' ? null : key, id };
  });
  const total = request.total ? { total: yield* count(connection, scheme, request.filter) } : {};
  return { ...page, ...total, isProjected: cut !== undefined };
}

function* findRows<Filter extends EntityFilter, Sort extends string>(
  connection: Connection,
  scheme: ListScheme<Filter, Sort>,
  request: PageRequest<Filter, Sort>,
  text: Projection,
): Generator<undefined, readonly PageRow[]> {
  const { limit, order } = request;
  const sign = order.direction === 'asc' ? 1 : -1;
  let rows: readonly PageRow[] = [];
  // Where most rows match, the first window has the whole page.
  yield* inWindows(connection, pageWalk(scheme, request), 2 * limit + 50, (window) => {
    const { sql, values } = pageQuery(scheme, request, text, window);
    const found = connection.all<PageRow>(sql, ...values);
    rows = rows.length === 0 ? found : [...rows, ...found];
    const isInOrder = rows[0]?.[3] === undefined;
    if (isInOrder) return rows.length > limit;
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
  let total = 0;
  yield* inWindows(connection, totalWalk(scheme, filter), 1000, (window) => {
    const { sql, values } = totalQuery(scheme, filter, window);
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
  walk: Walk | undefined,
  firstRows: number,
  visit: (window?: Bounds) => boolean,
): Generator<undefined, void> {
  if (walk === undefined) {
    visit();
    return;
  }
  let [rest, rows] = [walk.bounds, firstRows];
  for (;;) {
    const start = performance.now();
    const { sql, values } = walk.behind(rest, rows);
    const [key, id] = connection.get<[string, string]>(sql, ...values) ?? [];
    if (key === undefined || id === undefined) {
      visit(rest);
      return;
    }
    // Downwards, the row at the end is the first of the rest: the end is just above it.
    const isUp = walk.direction === 'asc';
    const end = { key, id: isUp ? id : `${id}\0` };
    if (visit({ ...rest, [isUp ? 'before' : 'from']: end })) return;
    rest = { ...rest, [isUp ? 'from' : 'before']: end };
    const ms = performance.now() - start;
    if (ms < least.ms) rows *= 2;
    else if (ms > 2 * least.ms) rows = Math.max(rows >> 1, least.rows);
    yield;
  }
}
