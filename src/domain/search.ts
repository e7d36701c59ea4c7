import type { CustomFilter } from './custom-filters.ts';
import { type CustomFilterFields, type DeclaredField, declaredField } from './declared-fields.ts';
import { emailKey, emailPrefixKey } from './email.ts';
import type { Instant } from './instant.ts';
import type { Condition, SortKey } from './list.ts';
import type { Post } from './post.ts';
import type { Collection, Id } from './record.ts';
import { isCleanText, normalizedText, prefixSpan, textKey } from './text.ts';
import type { User } from './user.ts';

// What lists are filtered and sorted by, stated once. A store keeps the values of a record's search row
// beside its JSON and translates conditions on them; it knows no filter by name.

/** The values of a record that lists look at, by name; `id` is always one of them. */
export type SearchRow = Readonly<Record<string, string | null>>;

/** How each value of a search row is derived from a record. */
export const searchFields = {
  users: {
    createdAt: (user: User) => user.createdAt,
    updatedAt: (user: User) => user.updatedAt,
    name: (user: User) => normalizedText(user.name),
    nameKey: (user: User) => textKey(user.name),
    /** No two users have the same; null for a user without an address. */
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

/** Returns what lists look at of a record. */
export function searchRow(collection: Collection, record: User | Post): SearchRow {
  const row: Record<string, string | null> = { id: record.id };
  for (const [name, derive] of Object.entries(searchFields[collection])) {
    row[name] = derive(record as User & Post);
  }
  return row;
}

/** The search field that each sort of a list goes by. */
export const sorts = {
  users: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey', email: 'emailKey' },
  posts: {
    ...{ createdAt: 'createdAt', updatedAt: 'updatedAt', title: 'titleKey' },
    publishedAt: 'publishedAt',
  },
} as const;

export type UserSort = keyof (typeof sorts)['users'];
export type PostSort = keyof (typeof sorts)['posts'];

/** By a field, in a direction; ties go by id in the same direction. */
export interface Order<Sort extends string> {
  readonly by: Sort;
  readonly direction: 'asc' | 'desc';
}

/** The order of a list when the caller does not say: the newest first. */
export const newestFirst = { by: 'createdAt', direction: 'desc' } as const;

/** The same for posts when the caller sees public ones only. */
export const lastPublishedFirst = { by: 'publishedAt', direction: 'desc' } as const;

export type DefaultOrder = typeof newestFirst | typeof lastPublishedFirst;

/** A span of time: from `from` on, and before `before`. Either end may be open. */
export interface TimeSpan {
  readonly from?: Instant | undefined;
  readonly before?: Instant | undefined;
}

/** How many ids a filter may name. */
export const maxFilterIds = 100;

/** Returns what a user is sorted by: a value of its search row, or a declared custom field. */
export function sortKey(user: User, by: string, declared?: CustomFilterFields): SortKey {
  if (!Object.hasOwn(sorts.users, by)) return customValue(user, declaredField(declared, by));
  return searchFields.users[sorts.users[by as UserSort]](user);
}

/** Returns the value of a declared text or number; null for a value of another type. */
export function customValue(record: object, declared: DeclaredField | undefined): SortKey {
  const value: unknown = declared && Reflect.get(record, declared.name);
  if (declared?.type === 'text') return typeof value === 'string' ? value : null;
  // Zero has one sign: JSON has no -0.
  return declared?.type === 'number' && typeof value === 'number' ? value + 0 : null;
}

/** Which values a filter takes. */
export type FilterType = 'text' | 'text or null' | 'ids' | 'span' | 'span or null';

/** One filter of a list, as data. */
export interface Filter<Value> {
  readonly type: FilterType;
  /** The field of the record that the filter tells something about. */
  readonly field: string;
  /** Returns what must hold; undefined when no record can match. */
  readonly conditions: (value: Value) => readonly Condition[] | undefined;
}

const sharedFilters = {
  /** Any of these ids, {@link maxFilterIds} at most. An empty list matches nothing. */
  ids: {
    type: 'ids',
    field: 'id',
    conditions: (ids) => {
      const value = ids.filter(isCleanText);
      return value.length === 0 ? undefined : [{ field: 'id', op: 'in', value }];
    },
  } satisfies Filter<readonly Id[]> as Filter<readonly Id[]>,
  createdAt: within('createdAt'),
  updatedAt: within('updatedAt'),
};

const userFilters = {
  ...sharedFilters,
  /** The whole name, in any normal form. */
  name: wholeText('name', 'nameKey'),
  /** An address with the same key: of any case, its domain in Unicode or as an A-label. */
  email: {
    type: 'text',
    field: 'email',
    conditions: (email) => equal('emailKey', emailKey(email)),
  } satisfies Filter<string> as Filter<string>,
  /** Names that begin with this text, in any case. */
  nameStartsWith: prefix('name', 'nameKey', textKey),
  /**
   * Addresses that begin with this text, in any case. A missing address begins with nothing, not even
   * with `''`. A text that ends inside a domain with characters beyond ASCII matches nothing.
   */
  emailStartsWith: prefix('email', 'emailKey', emailPrefixKey),
};

const postFilters = {
  ...sharedFilters,
  /** The whole title, in any normal form. */
  title: wholeText('title', 'titleKey'),
  /** The posts of one author; null: the posts without one. */
  authorId: {
    type: 'text or null',
    field: 'authorId',
    conditions: (id) =>
      id === null ? [{ field: 'authorId', op: 'isNull' }] : equal('authorId', id),
  } satisfies Filter<Id | null> as Filter<Id | null>,
  /** Titles that begin with this text, in any case. */
  titleStartsWith: prefix('title', 'titleKey', textKey),
  /** Null: the drafts. A span matches no drafts, and has at least one end. */
  publishedAt: {
    type: 'span or null',
    field: 'publishedAt',
    conditions: (span) =>
      span === null
        ? [{ field: 'publishedAt', op: 'isNull' }]
        : within('publishedAt').conditions(span),
  } satisfies Filter<TimeSpan | null> as Filter<TimeSpan | null>,
};

/** The filters of each collection by their names. */
export const filters = { users: userFilters, posts: postFilters };

type FilterValues<Table> = {
  readonly [Name in keyof Table]?: Table[Name] extends Filter<infer Value>
    ? Value | undefined
    : never;
};

/** Custom fields that must be equal to these values, each of the type that its name is declared with. */
interface CustomPart<Custom> {
  readonly custom?: Custom | undefined;
}

/** Which users a list has. Everything that is said must hold. */
export type UserFilter<Custom = CustomFilter> = FilterValues<typeof userFilters> &
  CustomPart<Custom>;

/** Which posts a list has. Everything that is said must hold. */
export type PostFilter<Custom = CustomFilter> = FilterValues<typeof postFilters> &
  CustomPart<Custom>;

/** The filters that users and posts have in common. */
export type EntityFilter<Custom = CustomFilter> = FilterValues<typeof sharedFilters> &
  CustomPart<Custom>;

function equal(field: string, value: string): readonly Condition[] | undefined {
  return isCleanText(value) ? [{ field, op: 'eq', value }] : undefined;
}

/** Exactly this text after NFC. Its key is asked for as well: that is what stores have an index on. */
function wholeText(field: string, key: string): Filter<string> {
  const conditions = (text: string) => {
    if (!isCleanText(text)) return undefined;
    return [...(equal(key, textKey(text)) ?? []), ...(equal(field, normalizedText(text)) ?? [])];
  };
  return { type: 'text', field, conditions };
}

function within(field: string): Filter<TimeSpan> {
  const conditions = ({ from, before }: TimeSpan): Condition[] => [
    ...(from === undefined ? [] : [{ field, op: 'from', value: from } as const]),
    ...(before === undefined ? [] : [{ field, op: 'before', value: before } as const]),
  ];
  return { type: 'span', field, conditions };
}

/** @param keyOf returns undefined for a text that no key begins with */
function prefix(
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
