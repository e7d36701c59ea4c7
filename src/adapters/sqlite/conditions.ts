import { instantToMs } from '../../domain/instant.ts';
import type { EntityFilter, TimeSpan } from '../../domain/page.ts';
import type { SqlValue } from './database.ts';

/** Something that must hold of a row. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** `WHERE` with all conditions, or nothing when there are none. */
export function where(conditions: readonly Condition[]): Condition {
  const sql = conditions.map((one) => one.sql).join(' AND ');
  return {
    sql: sql === '' ? '' : ` WHERE ${sql}`,
    values: conditions.flatMap((one) => one.values),
  };
}

/** `IS` and not `=`, where null is a value like any other; an index serves both alike. */
export function equals(column: string, value: string | null): Condition {
  return value === null
    ? { sql: `${column} IS NULL`, values: [] }
    : { sql: `${column} = ?`, values: [value] };
}

/**
 * Any of some ids. The list is filled up to a power of two with its last one, so that a hundred
 * lengths share eight statements.
 */
export function anyOf(ids: readonly string[]): Condition {
  let length = 1;
  while (length < ids.length) length *= 2;
  const values = Array.from({ length }, (_, i) => ids[Math.min(i, ids.length - 1)] ?? null);
  return { sql: `id IN (${values.map(() => '?').join(', ')})`, values };
}

/** A span of time in one column. */
export function within(column: string, { from, before }: TimeSpan = {}): Condition[] {
  const conditions: Condition[] = [];
  if (from !== undefined) conditions.push({ sql: `${column} >= ?`, values: [instantToMs(from)] });
  if (before !== undefined) {
    conditions.push({ sql: `${column} < ?`, values: [instantToMs(before)] });
  }
  return conditions;
}

/**
 * The filter without what cannot be: a text with half of a surrogate pair is stored nowhere, and
 * SQLite would be given U+FFFD in its place, which may be.
 *
 * @returns undefined when nothing can match
 */
export function possible<F extends EntityFilter>(
  filter: F,
  equalities: readonly { readonly value: string | null }[],
): F | undefined {
  if (equalities.some(({ value }) => value !== null && !value.isWellFormed())) return undefined;
  if (filter.ids === undefined) return filter;
  const ids = filter.ids.filter((id) => id.isWellFormed());
  return ids.length === 0 ? undefined : { ...filter, ids };
}
