import type { Id, PostSort, UserSort } from './records.ts';

/** Bounds of a time, as RFC 3339 text or as a `Date`. */
export type TimeBounds = {
  readonly [Bound in 'gte' | 'gt' | 'lte' | 'lt']?: string | Date | undefined;
};

/** Texts that begin with this; upper and lower case do not count. */
export interface Beginning {
  readonly startsWith: string;
}

interface RecordQuery<Sort extends string> {
  /** Any of these ids, 100 at most; none of them matches nothing. */
  readonly id?: Id | readonly Id[] | undefined;
  readonly createdAt?: TimeBounds | undefined;
  readonly updatedAt?: TimeBounds | undefined;
  /** `-createdAt` when absent; `-publishedAt` for a caller that sees public posts only. */
  readonly sort?: Sort | `-${Sort}` | undefined;
  /** Records on the page at most: 1 to 1000, 100 when absent. */
  readonly limit?: number | undefined;
  /** The `next` of the page before, in a list with the same filter and sort. */
  readonly cursor?: string | null | undefined;
  /** `exact` counts all records that the filter matches. */
  readonly count?: 'exact' | undefined;
}

/** The names of a record's fields, which are any where its custom fields are of no known type. */
export type FieldOf<R> = keyof R & string;

type Known<R> = keyof { [K in keyof R as string extends K ? never : K]: never };

/** What is there of a record that was asked for some fields: the whole of it, for all of them. */
export type Picked<R, F> =
  FieldOf<R> extends F
    ? R
    : Pick<R, Known<R> & (F | 'id')> & Partial<Pick<R, Exclude<F, Known<R>> & keyof R>>;

/** Custom fields that can be filters, where the server declares them. */
type CustomFilters<Own> = {
  readonly [K in keyof Own as string extends K ? never : K]?:
    | Extract<Own[K], string | number | boolean>
    | undefined;
};

/** What a list of users is asked for. All filters must hold. */
export type UserQuery<Own = unknown> = CustomFilters<Own> &
  RecordQuery<UserSort> & {
    /** The whole address, or its beginning; upper and lower case do not count. */
    readonly email?: string | Beginning | undefined;
    /** The whole name, exactly, or its beginning. */
    readonly name?: string | Beginning | undefined;
  };

/** What a list of posts is asked for. All filters must hold. */
export type PostQuery<Own = unknown> = CustomFilters<Own> &
  RecordQuery<PostSort> & {
    /** null: the posts without an author; `me`: the caller's own. */
    readonly authorId?: Id | null | undefined;
    /** The whole title, exactly, or its beginning. */
    readonly title?: string | Beginning | undefined;
    /** null: drafts. */
    readonly publishedAt?: TimeBounds | null | undefined;
  };

/** A query as text, with its `?`; empty when nothing is asked for. */
export function searchOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name === 'cursor' && value === null) continue;
    if (name === 'fields' && Array.isArray(value)) {
      search.append(name, value.join());
      continue;
    }
    for (const [key, text] of parametersOf(name, value)) search.append(key, text);
  }
  return search.size === 0 ? '' : `?${search}`;
}

function parametersOf(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (value === null) return [[name, name === 'publishedAt' ? 'null' : '']];
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`The date of "${name}" is invalid.`);
    return [[name, value.toISOString()]];
  }
  if (Array.isArray(value)) return value.flatMap((item) => parametersOf(name, item));
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([bound, at]) => parametersOf(`${name}[${bound}]`, at));
}
