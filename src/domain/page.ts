import { emailKey } from './email.ts';
import type { Instant } from './instant.ts';
import type { Post } from './post.ts';
import type { Id } from './record.ts';
import { compareText } from './text.ts';
import type { User } from './user.ts';

/** How many records a page has at most, and how many when the caller does not say. */
export const pageLimits = { max: 1000, default: 100 } as const;

/** How many ids a filter may name. */
export const maxFilterIds = 100;

/** By a field, in a direction; ties go by id in the same direction. */
export interface Order<Field extends string> {
  readonly by: Field;
  readonly direction: 'asc' | 'desc';
}

export const userSorts = ['createdAt', 'updatedAt', 'name', 'email'] as const;
export const postSorts = ['createdAt', 'updatedAt', 'title'] as const;

export type UserSort = (typeof userSorts)[number];
export type PostSort = (typeof postSorts)[number];
export type UserOrder = Order<UserSort>;
export type PostOrder = Order<PostSort>;

/** The order of a list when the caller does not say: the newest first. */
export const newestFirst = { by: 'createdAt', direction: 'desc' } as const;

/** A span of time: from `from` on, and before `before`. Either end may be open. */
export interface TimeSpan {
  readonly from?: Instant | undefined;
  readonly before?: Instant | undefined;
}

/** Which records a list has. All that is said must hold. */
export interface EntityFilter {
  /** Any of these, {@link maxFilterIds} at most. An empty list matches nothing. */
  readonly ids?: readonly Id[] | undefined;
  readonly createdAt?: TimeSpan | undefined;
  readonly updatedAt?: TimeSpan | undefined;
}

export interface UserFilter extends EntityFilter {
  /** The whole name, exactly. */
  readonly name?: string | undefined;
  /** An address with the same {@link emailKey}. */
  readonly email?: string | undefined;
}

export interface PostFilter extends EntityFilter {
  /** The whole title, exactly. */
  readonly title?: string | undefined;
  /** The posts of one author; null: the posts without one. */
  readonly authorId?: Id | null | undefined;
}

/**
 * A place in a list: just behind the record that had this sort key and this id when it was shown.
 * The record itself may be gone by now.
 */
export interface Position {
  readonly key: string | null;
  readonly id: Id;
}

/** The order of places in an ascending list: null before all text, text by code point, then by id. */
export function comparePositions(a: Position, b: Position): number {
  return compareKeys(a.key, b.key) || compareText(a.id, b.id);
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareText(a, b);
}

export interface PageRequest<O> {
  readonly order: O;
  /** 1 to {@link pageLimits}.max */
  readonly limit: number;
  /** Where the page before ended; absent for the first page. */
  readonly after?: Position | undefined;
  /** Whether to count all records that the filter matches, on every page. */
  readonly total?: boolean | undefined;
}

/** What a caller asks of a list; everything may be left out. */
export interface ListRequest<Filter, O> extends Partial<PageRequest<O>> {
  readonly filter?: Filter | undefined;
}

/**
 * A list request with its defaults.
 *
 * @param sorts what such records may be sorted by
 * @throws RangeError for what no list may be asked for; a caller's mistake and no client's
 */
export function pageRequest<Sort extends string>(
  request: ListRequest<EntityFilter, Order<Sort>>,
  sorts: readonly Sort[],
): PageRequest<Order<Sort | 'createdAt'>> {
  const { filter, order = newestFirst, limit = pageLimits.default, after, total = false } = request;
  if (!Number.isInteger(limit) || limit < 1 || limit > pageLimits.max) {
    throw new RangeError(`limit must be an integer from 1 to ${pageLimits.max}`);
  }
  if (filter?.ids !== undefined && filter.ids.length > maxFilterIds) {
    throw new RangeError(`ids must be ${maxFilterIds} at most`);
  }
  if (!sorts.some((sort) => sort === order.by)) {
    throw new RangeError(`order.by must be one of ${sorts.join(', ')}`);
  }
  if (order.direction !== 'asc' && order.direction !== 'desc') {
    throw new RangeError('order.direction must be "asc" or "desc"');
  }
  return { order, limit, after, total };
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; absent on the last page. */
  readonly next?: Position | undefined;
  /** How many records the filter matches, when that was asked for. */
  readonly total?: number | undefined;
}

/**
 * What a user is sorted by. Text sorts by code point; null, a missing email address, comes before
 * all text, and so last in descending order.
 */
export function userSortKey(user: User, by: UserSort): string | null {
  if (by === 'email') return user.email === null ? null : emailKey(user.email);
  return user[by];
}

/** What a post is sorted by. */
export function postSortKey(post: Post, by: PostSort): string {
  return post[by];
}
