import type { DeclaredFilters, DeclaredSort } from './declared-fields.ts';
import type { Id, PostSort, UserSort } from './records.ts';

/**
 * Bounds of a time: an RFC 3339 date-time, a `Date`, or a date such as `2026-11-26`, which means that
 * day in the local time zone.
 */
export type TimeBounds = {
  readonly [Bound in 'gte' | 'gt' | 'lte' | 'lt']?: string | Date | undefined;
};

/** Matches text that starts with this, ignoring case. */
export interface StartsWith {
  readonly startsWith: string;
}

interface RecordQuery<Sort extends string> {
  /** Matches any of these ids; an empty list matches nothing. */
  readonly id?: Id | readonly Id[] | undefined;
  readonly createdAt?: TimeBounds | undefined;
  readonly updatedAt?: TimeBounds | undefined;
  /** `-createdAt` by default; `-publishedAt` for a caller that can see public posts only. */
  readonly sort?: Sort | `-${Sort}` | undefined;
  /** The maximum number of records on a page: 1 to 1000, 100 by default. A page ends at 100 all the same. */
  readonly limit?: number | undefined;
  /** The previous page's `next`, with the same filter and sort. */
  readonly cursor?: string | null | undefined;
  /** `exact` adds the number of records that match the filter. */
  readonly count?: 'exact' | undefined;
}

/** The names of a record's fields: any string, unless its custom fields have a type. */
export type FieldOf<R> = keyof R & string;

type Known<R> = keyof { [K in keyof R as string extends K ? never : K]: never };

/** A record with the selected fields; the whole record if all fields are selected. */
export type Picked<R, F> =
  FieldOf<R> extends F
    ? R
    : Pick<R, Known<R> & (F | 'id')> & Partial<Pick<R, Exclude<F, Known<R>> & keyof R>>;

/** The query of a list of users. A user must match all filters. */
export type UserQuery<Fields = unknown> = DeclaredFilters<Fields> &
  RecordQuery<UserSort | DeclaredSort<Fields>> & {
    /** The whole address or its start, ignoring case. */
    readonly email?: string | StartsWith | undefined;
    /** The exact name or its start. */
    readonly name?: string | StartsWith | undefined;
  };

/** The query of a list of posts. A post must match all filters. */
export type PostQuery<Fields = unknown> = DeclaredFilters<Fields> &
  RecordQuery<PostSort | DeclaredSort<Fields>> & {
    /** null matches posts without an author, `me` the caller's own posts. */
    readonly authorId?: Id | null | undefined;
    /** The exact title or its start. */
    readonly title?: string | StartsWith | undefined;
    /** null matches drafts. */
    readonly publishedAt?: TimeBounds | null | undefined;
  };

/** Returns the query string with its `?`, or an empty string. */
export function searchOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name === 'cursor' && value === null) continue;
    for (const [key, text] of parametersOf(name, value)) search.append(key, text);
  }
  return search.size === 0 ? '' : `?${search}`;
}

function parametersOf(name: string, value: unknown): [name: string, value: string][] {
  if (value === undefined) return [];
  if (value === null) {
    if (name === 'publishedAt') return [[name, 'null']];
    if (name === 'authorId') return [[name, '']];
    throw new TypeError(`"${name}" cannot be null in a query.`);
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`The date of "${name}" is invalid.`);
    return [[name, value.toISOString()]];
  }
  if (name === 'fields' && Array.isArray(value)) return [[name, value.join()]];
  if (Array.isArray(value)) return value.flatMap((item) => parametersOf(name, item));
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, item]) => parametersOf(`${name}[${key}]`, item));
  }
  const text = String(value);
  const [, time, bound = ''] = /^(createdAt|updatedAt|publishedAt)(?:\[(\w+)\])?$/.exec(name) ?? [];
  const isDay = time !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);
  if (!isDay) return [[name, text]];
  return Object.entries(boundsOfDay(text, bound)).map(([key, at]) => [`${time}[${key}]`, at]);
}

/** Turns a bound that is a date without a time into instants, by the local time zone. */
function boundsOfDay(day: string, bound: string): Readonly<Record<string, string>> {
  const start = new Date(`${day}T00:00`);
  if (start.getDate() !== Number(day.slice(-2))) throw new TypeError(`There is no date ${day}.`);
  const end = new Date(start);
  end.setHours(24, 0, 0, 0);
  const [first, next] = [start.toISOString(), end.toISOString()];
  if (bound === '') return { gte: first, lt: next };
  if (bound === 'gt') return { gte: next };
  if (bound === 'lte') return { lt: next };
  return { [bound]: first };
}
