import { emailKey, emailPrefixKey } from '../fields/email.ts';
import type { Instant } from '../records/instant.ts';
import type { Post } from '../records/post.ts';
import type { Collection, Id } from '../records/record.ts';
import { isCleanText, normalizedText, prefixSpan, textKey } from '../records/text.ts';
import type { User } from '../records/user.ts';
import type { Span } from './declared-filters.ts';
import type { AnyFilter } from './declared-types.ts';
import type { Condition, SortKey } from './list.ts';

// The filters and orders of lists, as data. A store keeps the values of a record's search row beside its
// JSON and translates conditions on them; it knows no filter by name.

/** The values by which lists find a record, by name; `id` is always one of them. */
export type SearchRow = Readonly<Record<string, string | null>>;

/** How each value of a search row is derived from a record. */
export const searchFields = {
  users: {
    createdAt: (user: User) => user.createdAt,
    updatedAt: (user: User) => user.updatedAt,
    name: (user: User) => normalizedText(user.name),
    nameKey: (user: User) => textKey(user.name),
    /** Unique among users; null for a user without an address. */
    emailKey: (user: User) => (user.email === null ? null : emailKey(user.email)),
  },
  posts: {
    createdAt: (post: Post) => post.createdAt,
    updatedAt: (post: Post) => post.updatedAt,
    title: (post: Post) => normalizedText(post.title),
    titleKey: (post: Post) => textKey(post.title),
    authorId: (post: Post) => post.authorId,
    publishedAt: (post: Post) => post.publishedAt,
  },
} as const;

export function searchRow(collection: Collection, record: User | Post): SearchRow {
  const row: Record<string, string | null> = { id: record.id };
  for (const [name, derive] of Object.entries(searchFields[collection])) {
    row[name] = derive(record as User & Post);
  }
  return row;
}

/** The search fields whose values are instants. */
export const instantFields: readonly string[] = ['createdAt', 'updatedAt', 'publishedAt'];

/** The search field of each order of a list. */
export const sorts = {
  users: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey', email: 'emailKey' },
  posts: {
    createdAt: 'createdAt',
    updatedAt: 'updatedAt',
    title: 'titleKey',
    publishedAt: 'publishedAt',
  },
} as const;

/** The orders by a field that can be null. */
export const nullableSorts: readonly string[] = ['email', 'publishedAt'];

export type UserSort = keyof (typeof sorts)['users'];
export type PostSort = keyof (typeof sorts)['posts'];

/** A field and a direction; ties are sorted by id in the same direction. */
export interface Order<Sort extends string> {
  readonly by: Sort;
  readonly direction: 'asc' | 'desc';
}

/** The default order of a list: the newest first. */
export const newestFirst = { by: 'createdAt', direction: 'desc' } as const;

/** The default order of posts for a caller who can see only public ones. */
export const lastPublishedFirst = { by: 'publishedAt', direction: 'desc' } as const;

export type DefaultOrder = typeof newestFirst | typeof lastPublishedFirst;

export type TimeSpan = Span<Instant>;

export const maxFilterIds = 100;

/** Returns the value of a declared text or number, or null. */
export function declaredValue(record: object, name: string): SortKey {
  const value: unknown = Reflect.get(record, name);
  // Adding 0 turns -0 into 0, as `JSON.stringify` does.
  if (typeof value === 'number') return value + 0;
  return typeof value === 'string' ? value : null;
}

export type FilterType = 'text' | 'text or null' | 'ids' | 'span' | 'span or null';

/** One filter of a list, as data. */
export interface Filter<Value> {
  readonly type: FilterType;
  /** The field of the record that the filter reveals something about. */
  readonly field: string;
  /** Returns the conditions; undefined if no record can match. */
  readonly conditions: (value: Value) => readonly Condition[] | undefined;
}

/** Infers the conditions' types from the type of the value. */
const filter = <Value>(it: Filter<Value>): Filter<Value> => it;

const sharedFilters = {
  /** Any of these ids, at most {@link maxFilterIds}. An empty list matches nothing. */
  ids: filter<readonly Id[]>({
    type: 'ids',
    field: 'id',
    conditions: (ids) => {
      const value = ids.filter(isCleanText);
      return value.length === 0 ? undefined : [{ field: 'id', op: 'in', value }];
    },
  }),
  createdAt: timeFilter('createdAt'),
  updatedAt: timeFilter('updatedAt'),
};

const userFilters = {
  ...sharedFilters,
  /** The whole name, in any normal form. */
  name: exactTextFilter('name', 'nameKey'),
  /** An address with the same key: of any case, its domain in Unicode or as an A-label. */
  email: filter<string>({
    type: 'text',
    field: 'email',
    conditions: (email) => equal('emailKey', emailKey(email)),
  }),
  /** Names that start with this text, ignoring case. */
  nameStartsWith: prefixFilter('name', 'nameKey', textKey),
  /**
   * Addresses that start with this text, ignoring case. A missing address never matches, not even `''`. A
   * text that ends inside a domain label with non-ASCII characters matches nothing.
   */
  emailStartsWith: prefixFilter('email', 'emailKey', emailPrefixKey),
};

const postFilters = {
  ...sharedFilters,
  /** The whole title, in any normal form. */
  title: exactTextFilter('title', 'titleKey'),
  /** The posts of one author; null: the posts without one. */
  authorId: filter<Id | null>({
    type: 'text or null',
    field: 'authorId',
    conditions: (id) =>
      id === null ? [{ field: 'authorId', op: 'isNull' }] : equal('authorId', id),
  }),
  /** Titles that start with this text, ignoring case. */
  titleStartsWith: prefixFilter('title', 'titleKey', textKey),
  /** Null matches drafts. A span has at least one end, and matches no drafts. */
  publishedAt: filter<TimeSpan | null>({
    type: 'span or null',
    field: 'publishedAt',
    conditions: (span) =>
      span === null
        ? [{ field: 'publishedAt', op: 'isNull' }]
        : timeFilter('publishedAt').conditions(span),
  }),
};

export const filters = { users: userFilters, posts: postFilters };

type ValueOf<F> = F extends Filter<infer Value> ? Value | undefined : never;

// Each mapped on its own, so that the compiler's messages have its name.
type SharedFilters = typeof sharedFilters;
type UserFilters = typeof userFilters;
type PostFilters = typeof postFilters;
type KnownUserFilter = { readonly [Name in keyof UserFilters]?: ValueOf<UserFilters[Name]> };
type KnownPostFilter = { readonly [Name in keyof PostFilters]?: ValueOf<PostFilters[Name]> };

/** A filter of users, by known and declared fields. A user must match all of it. */
export type UserFilter<Declared = AnyFilter> = KnownUserFilter & Declared;

/** A filter of posts, by known and declared fields. A post must match all of it. */
export type PostFilter<Declared = AnyFilter> = KnownPostFilter & Declared;

/** The filters that users and posts have in common. */
export type SharedFilter = {
  readonly [Name in keyof SharedFilters]?: ValueOf<SharedFilters[Name]>;
};

function equal(field: string, value: string): readonly Condition[] | undefined {
  return isCleanText(value) ? [{ field, op: 'eq', value }] : undefined;
}

/** Exactly this text after NFC. Also compares the key, because stores have an index on it. */
function exactTextFilter(field: string, key: string): Filter<string> {
  const conditions = (text: string): Condition[] | undefined => {
    if (!isCleanText(text)) return undefined;
    return [
      { field: key, op: 'eq', value: textKey(text) },
      { field, op: 'eq', value: normalizedText(text) },
    ];
  };
  return { type: 'text', field, conditions };
}

function timeFilter(field: string): Filter<TimeSpan> {
  const conditions = ({ from, before }: TimeSpan): Condition[] => [
    ...(from === undefined ? [] : [{ field, op: 'from', value: from } as const]),
    ...(before === undefined ? [] : [{ field, op: 'before', value: before } as const]),
  ];
  return { type: 'span', field, conditions };
}

/** @param keyOf returns undefined for a text that no key starts with */
function prefixFilter(
  field: string,
  key: string,
  keyOf: (text: string) => string | undefined,
): Filter<string> {
  const conditions = (text: string): Condition[] | undefined => {
    const start = isCleanText(text) ? keyOf(text) : undefined;
    if (start === undefined) return undefined;
    const { from, before } = prefixSpan(start);
    const end = before === undefined ? [] : [{ field: key, op: 'before', value: before } as const];
    return [{ field: key, op: 'from', value: from }, ...end];
  };
  return { type: 'text', field, conditions };
}
