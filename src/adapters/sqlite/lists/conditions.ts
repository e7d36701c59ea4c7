import { comparePositions, type Position } from '../../../domain/list.ts';
import type { SqlValue } from '../connection/connection.ts';
import { textForEquality } from '../record-table.ts';

/** A piece of SQL, or all of it, with the values of its parameters. */
export interface Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A column, or an expression, that is held to one value. */
export interface Held {
  readonly column: string;
  readonly value: string | null;
}

/** The texts of a column from `from` on and before `before`, by code point; either end may be open. */
export interface Span {
  readonly from?: string | undefined;
  readonly before?: string | undefined;
}

/** A page's rows are at or behind `from`, and before `before`, whatever its direction. */
export interface Bounds {
  readonly from?: Position | undefined;
  readonly before?: Position | undefined;
}

/** `WHERE` with all conditions, or nothing when there are none. */
export function where(all: readonly Query[]): Query {
  const sql = all.map((one) => one.sql).join(' AND ');
  return { sql: sql && ` WHERE ${sql}`, values: all.flatMap((one) => one.values) };
}

export function holds({ column, value }: Held): Query {
  return value === null
    ? { sql: `${column} IS NULL`, values: [] }
    : { sql: `${column} = ?`, values: [textForEquality(value)] };
}

/**
 * Any of some ids. The list is filled up to a power of two with its last one, so that a hundred
 * lengths share eight statements.
 */
export function anyOf(ids: readonly string[]): Query {
  let length = 1;
  while (length < ids.length) length *= 2;
  const values = Array.from({ length }, (_, i) =>
    textForEquality(ids[i] ?? ids.at(-1) ?? '\ud800'),
  );
  return { sql: `id IN (${values.map(() => '?').join(', ')})`, values };
}

export function inSpan(column: string, { from, before }: Span = {}): Query[] {
  return [
    ...(from === undefined ? [] : [{ sql: `${column} >= ?`, values: [textForOrder(from)] }]),
    ...(before === undefined ? [] : [{ sql: `${column} < ?`, values: [textForOrder(before)] }]),
  ];
}

/**
 * The position that a page begins behind, and the span of the column that it is sorted by.
 *
 * SQLite enters an index by one bound on either side. Where the position and the span bound the
 * same side, the query has only the tighter one: by the other, SQLite would walk to the page.
 */
export function boundsOf(direction: 'asc' | 'desc', after?: Position, span: Span = {}): Bounds {
  // No id is empty, so `''` is before all of them.
  const from = span.from === undefined ? undefined : { key: textForOrder(span.from), id: '' };
  const before = span.before === undefined ? undefined : { key: textForOrder(span.before), id: '' };
  if (after === undefined) return { from, before };
  // What is missing is `''` here; the empty text behind it, and before all others, is a NUL.
  const key = after.key === null ? '' : textForOrder(after.key) || '\0';
  // No record is at a key that had to be replaced: all that have the new one are behind it.
  const id = key === (after.key ?? '') ? textForOrder(after.id) : '';
  // The first text behind another one is that with a NUL at its end.
  const first = { key, id: id === after.id ? `${id}\0` : id };
  if (direction === 'asc') return { from: tighter(first, from, 1), before };
  return { from, before: tighter({ key, id }, before, -1) };
}

function tighter(a: Position, b: Position | undefined, sign: 1 | -1): Position {
  return b !== undefined && comparePositions(b, a) * sign > 0 ? b : a;
}

/**
 * The rows between bounds in the order of a column.
 *
 * @param pinned the value that a filter holds the column to
 */
export function betweenBounds(
  column: string,
  { from, before }: Bounds,
  pinned?: string | null,
): Query[] {
  const end = (sign: '>=' | '<', at: Position | undefined): Query[] => {
    if (at === undefined) return [];
    // Where a filter holds the column to this key, the index is entered by the id.
    const byId = at.key === pinned ? [{ sql: `id ${sign} ?`, values: [at.id] }] : [];
    return [{ sql: `(${column}, id) ${sign} (?, ?)`, values: [at.key, at.id] }, ...byId];
  };
  return [...end('>=', from), ...end('<', before)];
}

/**
 * A text to be compared in order. Half of a surrogate pair is stored nowhere; of the texts that
 * can be, the first one behind a text with it has U+E000 in the place of that and of the rest.
 */
export function textForOrder(text: string): string {
  return text.replace(/\p{Surrogate}.*/su, '\ue000');
}
