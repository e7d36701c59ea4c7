import type { Document } from 'mongodb';
import { type CustomFilterFields, customEqualities } from '../../../domain/custom-filters.ts';
import { emailKey, emailPrefixKey } from '../../../domain/email.ts';
import type {
  EntityFilter,
  PostFilter,
  PostSort,
  TimeSpan,
  UserFilter,
  UserSort,
} from '../../../domain/list.ts';
import { prefixSpan, textKey } from '../../../domain/text.ts';
import { customIndexName, customPath } from '../schema/indexes.ts';

/** What tells users from posts where lists are read. */
export interface Resource<Filter, Sort extends string> {
  /** Where the key of a sort is kept. */
  readonly paths: Readonly<Record<Sort, string>>;
  readonly conditions: (filter: Filter) => Conditions<Sort>;
}

/** What a filter asks of documents, and how to get at them. */
export interface Conditions<Sort extends string> {
  readonly match: Document;
  /** True when no document can match. */
  readonly never: boolean;
  /** The index that finds the records that the filter names, where it does not order them. */
  readonly named: (by: Sort) => string | undefined;
  /** The index that serves a sort under this filter. */
  readonly index: (by: Sort) => string;
}

export const users: Resource<UserFilter, UserSort> = {
  paths: {
    createdAt: 'record.createdAt',
    updatedAt: 'record.updatedAt',
    name: 'nameKey',
    email: 'emailKey',
  },
  conditions(filter) {
    const { ids, name, email, nameStartsWith, emailStartsWith } = filter;
    // An empty key stands for a missing address, which begins with nothing.
    const [key, start] = [
      email && emailKey(email),
      emailStartsWith && (emailPrefixKey(emailStartsWith) ?? '\0'),
    ];
    const hasAddress = emailStartsWith === '' ? { $gt: '' } : {};
    return {
      match: {
        ...entityMatch(filter),
        ...(name !== undefined && { 'record.name': name }),
        ...keyMatch('nameKey', name, nameStartsWith),
        ...keyMatch('emailKey', key, start, hasAddress),
      },
      never: email === '' || isNeverStored(name, email),
      named(by) {
        if (email !== undefined) return 'email';
        if (ids !== undefined) return '_id_';
        if (name !== undefined) return undefined;
        if (emailStartsWith !== undefined && by !== 'email') return 'email';
        if (nameStartsWith !== undefined && by !== 'name') return 'nameKey';
        return undefined;
      },
      index(by) {
        if (by === 'name') return 'nameKey';
        return name === undefined ? by : 'name_createdAt';
      },
    };
  },
};

export const posts: Resource<PostFilter, PostSort> = {
  paths: {
    createdAt: 'record.createdAt',
    updatedAt: 'record.updatedAt',
    title: 'titleKey',
    publishedAt: 'publishedKey',
  },
  conditions(filter) {
    const { ids, title, titleStartsWith, authorId, publishedAt } = filter;
    return {
      match: {
        ...entityMatch(filter),
        ...(title !== undefined && { 'record.title': title }),
        ...keyMatch('titleKey', title, titleStartsWith),
        // By its type, because "equal to null" is two spans of an index: null, and none at all.
        ...(authorId !== undefined && { 'record.authorId': authorId ?? { $type: 'null' } }),
        ...publishedMatch(publishedAt),
      },
      never: isNeverStored(title, authorId),
      named(by) {
        if (ids !== undefined) return '_id_';
        if (title !== undefined || typeof authorId === 'string') return undefined;
        if (titleStartsWith !== undefined && by !== 'title') return 'titleKey';
        return publishedAt === null && by !== 'publishedAt' ? 'publishedAt' : undefined;
      },
      index(by) {
        if (by === 'title') return 'titleKey';
        if (title !== undefined) return 'title_createdAt';
        if (authorId !== undefined && by === 'publishedAt') return 'author_publishedAt';
        // One author's posts are few beside all posts, and are sorted in memory if need be; the
        // posts without an author may be most of them.
        if (authorId === undefined || (authorId === null && by !== 'createdAt')) return by;
        return 'author_createdAt';
      },
    };
  },
};

/**
 * Lists that can be filtered by custom fields as well. In the order of `createdAt` they are read off
 * the index of a custom field; in any other, the keys of the records that it finds are sorted.
 */
export function withCustomFilters<Filter extends EntityFilter, Sort extends string>(
  resource: Resource<Filter, Sort>,
  fields?: CustomFilterFields,
): Resource<Filter, Sort> {
  return {
    ...resource,
    conditions(filter) {
      const asked = customEqualities(filter.custom, fields);
      const conditions = resource.conditions(filter);
      const [first] = asked.toSorted((a, b) => rankOf(a.type) - rankOf(b.type));
      if (first === undefined) return conditions;
      const texts = asked.map(({ value }) => (typeof value === 'string' ? value : undefined));
      const found = {
        ...conditions,
        match: { ...conditions.match, ...customMatch(asked) },
        never: conditions.never || isNeverStored(...texts),
      };
      if (findsFew(filter)) return found;
      const index = customIndexName(first.name);
      return {
        ...found,
        named: (by) => conditions.named(by) ?? (by === 'createdAt' ? undefined : index),
        index: () => index,
      };
    },
  };
}

/** A list that has the value in it is found in the index as well, and is not the value. */
function customMatch(asked: ReturnType<typeof customEqualities>): object {
  const matches = asked.map(({ name, value }) => {
    return [customPath(name), { $eq: value, $not: { $type: 'array' } }];
  });
  return Object.fromEntries(matches);
}

/** Most records may have one of two values. */
function rankOf(type: CustomFilterFields[string]): number {
  return type === 'boolean' ? 1 : 0;
}

/**
 * What the key of a text has to be. A prefix is a span of the index; an exact filter is looked up by
 * the key as well, among whose texts it then chooses.
 */
function keyMatch(path: string, exact?: string, prefix?: string, others: object = {}): Document {
  if (exact === undefined && prefix === undefined) return {};
  const { from, before } = prefixSpan(textKey(prefix ?? ''));
  const span = { $gte: from, ...(before !== undefined && { $lt: before }) };
  const equal = exact !== undefined && { $eq: textKey(exact) };
  return { [path]: { ...equal, ...(prefix !== undefined && span), ...others } };
}

/** A draft has an empty key, which no instant is. */
function publishedMatch(span: TimeSpan | null | undefined): Document {
  if (span === null) return { publishedKey: '' };
  return span === undefined ? {} : spanMatch('publishedKey', { ...span, from: span.from ?? '' });
}

/** Whether another filter has an index that finds fewer records, as far as one can tell. */
function findsFew({ name, title, authorId }: UserFilter & PostFilter): boolean {
  return name !== undefined || title !== undefined || typeof authorId === 'string';
}

function entityMatch({ ids, createdAt, updatedAt }: EntityFilter): Document {
  return {
    ...(ids && { _id: { $in: ids.filter((id) => id.isWellFormed()) } }),
    ...spanMatch('record.createdAt', createdAt),
    ...spanMatch('record.updatedAt', updatedAt),
  };
}

function spanMatch(path: string, { from, before }: TimeSpan = {}): Document {
  if (from === undefined && before === undefined) return {};
  const bound = (text: string) => firstBehind(text) ?? text;
  const $gte = from === undefined ? '' : bound(from);
  return { [path]: { $gte, ...(before !== undefined && { $lt: bound(before) }) } };
}

/**
 * Of a text that no record has, the first text in the order of code points that one may have and
 * that comes behind it: to be a bound in its place. Undefined for any other text.
 *
 * BSON holds no half of a surrogate pair (the driver would take U+FFFD for it), and an empty text
 * stands for a missing email address.
 */
export function firstBehind(text: string): string | undefined {
  if (text === '') return '\0';
  const half = text.search(/\p{Surrogate}/u);
  return half < 0 ? undefined : `${text.slice(0, half)}\uE000`;
}

function isNeverStored(...texts: readonly (string | null | undefined)[]): boolean {
  return texts.some((text) => text?.isWellFormed() === false);
}
