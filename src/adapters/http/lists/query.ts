import { type CustomFilterFields, hasDeclaredTypes } from '../../../domain/custom-filters.ts';
import { emailKey, emailPrefixKey } from '../../../domain/email.ts';
import type { Json } from '../../../domain/json.ts';
import { type Position, pageLimits } from '../../../domain/list.ts';
import type { ListRequest } from '../../../domain/list-request.ts';
import type {
  DefaultOrder,
  EntityFilter,
  Order,
  PostFilter,
  UserFilter,
} from '../../../domain/search.ts';
import { maxLimitWithAuthors } from '../../../domain/services/post-service.ts';
import { textKey } from '../../../domain/text.ts';
import type { Query } from '../exchange.ts';
import { Problem } from '../problems/problem.ts';
import { formatQuery } from '../request/query.ts';
import { decodeCursor, encodeCursor, type ListIdentity, listIdentity } from './cursor.ts';
import { readCustomFilter } from './custom-filters.ts';
import { timeSpan } from './time-filter.ts';

/** A list's query, read: its values are well-formed, because that was checked before. */
export interface ListQuery<Filter, Sort extends string> {
  readonly request: ListRequest<Filter, Sort> & {
    readonly limit: number;
    readonly fields?: readonly string[] | undefined;
  };
  /** The cursor of a position in this very list. */
  readonly cursorAt: (position: Position) => string;
  /** The query of the page that begins at a cursor. */
  readonly queryAt: (cursor: string) => string;
}

/** @throws Problem `invalid-cursor` */
export function readListQuery<Filter extends EntityFilter, Sort extends string>(
  list: string,
  query: Query,
  readFilter: (query: Query) => Filter,
  customFields: CustomFilterFields | undefined,
  defaultOrder: DefaultOrder,
): ListQuery<Filter, Sort> {
  const filter = { ...readFilter(query), custom: readCustomFilter(query, customFields) };
  const sort = first(query, 'sort');
  const order = sort === undefined ? (defaultOrder as Order<Sort>) : readOrder<Sort>(sort);
  const limit = Number(first(query, 'limit') ?? pageLimits.default);
  const total = query.has('count');
  const identity = listIdentity(list, `${order.direction} ${order.by}`, identityOf(filter));
  const after = readCursor(first(query, 'cursor'), identity, order.by);
  const fields = first(query, 'fields')?.split(',');
  if (query.has('include')) {
    checkLimit(limit);
    fields?.push('authorId'); // Without it, no post would show its author.
  }
  const others = formatQuery(query, 'cursor');
  const canMatch = hasDeclaredTypes(filter.custom, customFields);
  const asked = canMatch ? filter : { ...filter, custom: undefined, ids: [] };
  return {
    request: { filter: asked, order, limit, after, total, fields },
    cursorAt: keepLast((position) => encodeCursor(position, identity)),
    queryAt: (cursor) => `${others}${others && '&'}cursor=${cursor}`,
  };
}

export function readUserFilter(query: Query): UserFilter {
  return {
    ...readEntityFilter(query),
    name: first(query, 'name'),
    email: first(query, 'email'),
    nameStartsWith: first(query, 'name[startsWith]'),
    emailStartsWith: first(query, 'email[startsWith]'),
  };
}

export function readPostFilter(query: Query): PostFilter {
  const author = first(query, 'authorId');
  const published = timeSpan((bound) => first(query, `publishedAt[${bound}]`));
  const isDraft = query.has('publishedAt');
  return {
    ...readEntityFilter(query),
    title: first(query, 'title'),
    titleStartsWith: first(query, 'title[startsWith]'),
    authorId: author === '' ? null : author,
    // No draft lies within a span.
    ...(isDraft && published && { ids: [] }),
    publishedAt: isDraft ? null : published,
  };
}

function readEntityFilter(query: Query): EntityFilter {
  const ids = query.get('id');
  return {
    ids: ids && [...new Set(ids)].sort(),
    createdAt: timeSpan((bound) => first(query, `createdAt[${bound}]`)),
    updatedAt: timeSpan((bound) => first(query, `updatedAt[${bound}]`)),
  };
}

function readOrder<Sort extends string>(sort: string): Order<Sort> {
  const descending = sort.startsWith('-');
  const by = (descending ? sort.slice(1) : sort) as Sort;
  return { by, direction: descending ? 'desc' : 'asc' };
}

/** @throws Problem `invalid-query` */
function checkLimit(limit: number): void {
  if (limit <= maxLimitWithAuthors) return;
  const message = `Must be at most ${maxLimitWithAuthors} with "include".`;
  const errors = [{ parameter: 'limit', code: 'invalid', message }];
  throw new Problem(
    'invalid-query',
    `The query parameter "limit" must be at most ${maxLimitWithAuthors} with "include".`,
    { errors },
  );
}

function readCursor(
  cursor: string | undefined,
  identity: ListIdentity,
  by: string,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = decodeCursor(cursor, identity, by);
  if (position !== undefined) return position;
  const message = 'The cursor is not one of this list: of its filter and its sort.';
  throw new Problem('invalid-cursor', message, {
    errors: [{ parameter: 'cursor', code: 'invalid', message }],
  });
}

/** Most pages of a list that is kept are its first one, which often ends where it ended before. */
function keepLast(cursorAt: (position: Position) => string): (position: Position) => string {
  let last: Position | undefined;
  let cursor = '';
  return (position) => {
    if (position.key !== last?.key || position.id !== last.id) cursor = cursorAt(position);
    last = position;
    return cursor;
  };
}

/** The filters that compare a key of their text. */
const keys: Readonly<Record<string, (text: string) => string | undefined>> = {
  email: emailKey,
  emailStartsWith: emailPrefixKey,
  nameStartsWith: textKey,
  titleStartsWith: textKey,
} satisfies Partial<Record<keyof UserFilter | keyof PostFilter, unknown>>;

/** Filters that match the same records are one: the same, whatever the order or the case. */
function identityOf({ custom: own, ...filter }: UserFilter & PostFilter): Json {
  const members = Object.entries(filter).map(([name, value]) => [
    name,
    typeof value === 'string' ? (keys[name]?.(value) ?? value) : value,
  ]);
  // `own` is what earlier versions called it: their cursors stay valid.
  return JSON.parse(JSON.stringify({ ...Object.fromEntries(members), own })) as Json;
}

function first(query: Query, name: string): string | undefined {
  return query.get(name)?.[0];
}
