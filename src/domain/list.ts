import { emailKey } from './email.ts';
import type { Instant } from './instant.ts';
import type { Post } from './post.ts';
import type { Id, Versioned } from './record.ts';
import { compareText, textKey, utf8Bytes } from './text.ts';
import type { User } from './user.ts';

/** How large a page may be. */
export const pageLimits = {
  /** Records, at most. */
  max: 1000,
  /** Records, when the caller does not say. */
  default: 100,
  /** Bytes of JSON; a page has one record at least. */
  bytes: 2 * 1024 * 1024,
} as const;

/** How many ids a filter may name. */
export const maxFilterIds = 100;

export const userSorts = ['createdAt', 'updatedAt', 'name', 'email'] as const;
export const postSorts = ['createdAt', 'updatedAt', 'title', 'publishedAt'] as const;

export type UserSort = (typeof userSorts)[number];
export type PostSort = (typeof postSorts)[number];

/** By a field, in a direction; ties go by id in the same direction. */
export interface Order<Sort extends string> {
  readonly by: Sort;
  readonly direction: 'asc' | 'desc';
}

/** The order of a list when the caller does not say: the newest first. */
export const newestFirst = { by: 'createdAt', direction: 'desc' } as const;

/** That of posts to a caller that sees public ones only. */
export const lastPublishedFirst = { by: 'publishedAt', direction: 'desc' } as const;

export type DefaultOrder = typeof newestFirst | typeof lastPublishedFirst;

/** A span of time: from `from` on, and before `before`. Either end may be open. */
export interface TimeSpan {
  readonly from?: Instant | undefined;
  readonly before?: Instant | undefined;
}

/** Values of custom fields, each of the type that its name is declared with (`customFilters`). */
export type CustomFilter = Readonly<Record<string, string | number | boolean>>;

/** Which records a list has. All that is said must hold. */
export interface EntityFilter<Custom = CustomFilter> {
  /** Any of these, {@link maxFilterIds} at most. An empty list matches nothing. */
  readonly ids?: readonly Id[] | undefined;
  readonly createdAt?: TimeSpan | undefined;
  readonly updatedAt?: TimeSpan | undefined;
  /**
   * Custom fields that equal these texts, numbers or booleans. A field that is a list, an object, or
   * of another type is equal to none.
   */
  readonly custom?: Custom | undefined;
}

export interface UserFilter<Custom = CustomFilter> extends EntityFilter<Custom> {
  /** The whole name. */
  readonly name?: string | undefined;
  /** An address with the same {@link emailKey}. */
  readonly email?: string | undefined;
  /** Names whose {@link textKey} begins with that of this text, which has no lone surrogate or NUL. */
  readonly nameStartsWith?: string | undefined;
  /**
   * Addresses whose {@link emailKey} begins with the {@link emailPrefixKey} of this text: none where
   * that is undefined. A missing address begins with nothing, not even with `''`.
   */
  readonly emailStartsWith?: string | undefined;
}

export interface PostFilter<Custom = CustomFilter> extends EntityFilter<Custom> {
  /** The whole title. */
  readonly title?: string | undefined;
  /** The posts of one author; null: the posts without one. */
  readonly authorId?: Id | null | undefined;
  /** Titles whose {@link textKey} begins with that of this text, which has no lone surrogate or NUL. */
  readonly titleStartsWith?: string | undefined;
  /** Null: the drafts. A span holds no draft, and has one end at least. */
  readonly publishedAt?: TimeSpan | null | undefined;
}

/**
 * A position in a list: just behind the record that had this sort key and this id when it was
 * shown. The record itself may be gone by now.
 */
export interface Position {
  readonly key: string | null;
  readonly id: Id;
}

/** The order of positions in an ascending list: null before all text, text by code point, then by id. */
export function comparePositions(a: Position, b: Position): number {
  return compareKeys(a.key, b.key) || compareText(a.id, b.id);
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareText(a, b);
}

/** One page of a list, as a store is asked for it. */
export interface PageRequest<Filter, Sort extends string> {
  readonly filter: Filter;
  readonly order: Order<Sort>;
  /** Records: 1 to {@link pageLimits}.max. */
  readonly limit: number;
  /** Bytes of UTF-8 of the records' `json`: see {@link cutPage}. */
  readonly bytes: number;
  /** Where the page before ended; absent for the first page. */
  readonly after?: Position | undefined;
  /** Whether to count all records that the filter matches, on every page. */
  readonly total?: boolean | undefined;
  /**
   * The top-level fields that the page's records are wanted with, `id` always among them. A store that
   * reads no more than these says so by {@link Page.isProjected}, and its bytes count what is left; of
   * a store that does not, the core cuts the records.
   */
  readonly fields?: readonly string[] | undefined;
  /** Aborted when the page is wanted no more: a store may stop reading, and throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface Page<R> {
  readonly items: readonly Versioned<R>[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: Position | undefined;
  /** How many records the filter matches, when that was asked for. */
  readonly total?: number | undefined;
  /** True where the records have the fields alone that were asked for. */
  readonly isProjected?: boolean | undefined;
}

/**
 * Cuts a page off the records that follow in a list: it ends at `limit` records, or before the
 * record that would bring it over `bytes`, but has one at least.
 *
 * Takes no more than one record beyond the page, so that a store can read them one by one.
 *
 * @param position where a record of the list is, for `next`
 */
export function cutPage<V extends { readonly json: string }>(
  records: Iterable<V>,
  { limit, bytes }: { readonly limit: number; readonly bytes: number },
  position: (record: V) => Position,
): { readonly items: V[]; readonly next?: Position } {
  const items: V[] = [];
  // A character has three bytes at most; they are counted only where that bound does not do.
  let size = 0;
  let uncounted: V[] = [];
  for (const record of records) {
    const last = items.at(-1);
    if (last !== undefined && items.length >= limit) return { items, next: position(last) };
    uncounted.push(record);
    size += record.json.length * 3;
    if (size > bytes) {
      for (const { json } of uncounted) size += utf8Bytes(json) - json.length * 3;
      uncounted = [];
      if (last !== undefined && size > bytes) return { items, next: position(last) };
    }
    items.push(record);
  }
  return { items };
}

/**
 * What a user is sorted by. Text sorts by code point; null, a missing email address, comes before
 * all text, and so last in descending order.
 */
export function userSortKey(user: User, by: UserSort): string | null {
  if (by === 'createdAt' || by === 'updatedAt') return user[by];
  if (by === 'name') return textKey(user.name);
  return user.email === null ? null : emailKey(user.email);
}

/** What a post is sorted by; drafts, whose `publishedAt` is null, come before all others. */
export function postSortKey(post: Post, by: PostSort): string | null {
  return by === 'title' ? textKey(post.title) : post[by];
}
