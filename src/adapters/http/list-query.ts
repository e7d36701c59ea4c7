import { emailKey } from '../../domain/email.ts';
import { instantFromMs, instantToMs } from '../../domain/instant.ts';
import type { Json } from '../../domain/json.ts';
import {
  type EntityFilter,
  type Order,
  type Position,
  type PostFilter,
  pageLimits,
  type UserFilter,
} from '../../domain/list.ts';
import { decodeCursor, encodeCursor, type ListIdentity } from './cursor.ts';
import { defaultSort } from './list-parameters.ts';
import { Problem } from './problems.ts';
import type { Query } from './query.ts';
import { timeSpan } from './time-filter.ts';

/** A list's query, read: its values are well-formed, because that was checked before. */
export interface ListQuery<Filter, Sort extends string> {
  readonly filter: Filter;
  readonly order: Order<Sort>;
  readonly limit: number;
  readonly after: Position | undefined;
  readonly total: boolean;
  /** The cursor of a position in this very list. */
  cursorAt(position: Position): string;
}

/** @throws Problem `invalid-cursor` */
export function readListQuery<Filter extends EntityFilter, Sort extends string>(
  list: string,
  query: Query,
  filter: Filter,
): ListQuery<Filter, Sort> {
  const order = readOrder<Sort>(first(query, 'sort') ?? defaultSort);
  const identity: ListIdentity = {
    list,
    sort: `${order.direction} ${order.by}`,
    filter: identityOf(filter),
  };
  return {
    filter,
    order,
    limit: Number(first(query, 'limit') ?? pageLimits.default),
    after: readCursor(first(query, 'cursor'), identity, order),
    total: query.has('count'),
    cursorAt: (position) => encodeCursor(position, identity),
  };
}

export function readUserFilter(query: Query): UserFilter {
  return {
    ...readEntityFilter(query),
    name: first(query, 'name'),
    email: first(query, 'email'),
  };
}

export function readPostFilter(query: Query): PostFilter {
  const author = first(query, 'authorId');
  return {
    ...readEntityFilter(query),
    title: first(query, 'title'),
    authorId: author === '' ? null : author,
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

function readCursor(
  cursor: string | undefined,
  identity: ListIdentity,
  { by }: Order<string>,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = decodeCursor(cursor, identity);
  if (position !== undefined && isSortKey(position.key, by)) return position;
  const message = 'The cursor is not one of this list: of its filter and its sort.';
  throw new Problem('invalid-cursor', message, {
    errors: [{ parameter: 'cursor', code: 'invalid', message }],
  });
}

/** Whether a list that is sorted by this can have such a key. */
function isSortKey(key: string | null, by: string): boolean {
  if (key === null) return by === 'email';
  return !by.endsWith('At') || instantFromMs(instantToMs(key) || 0) === key;
}

/** Filters that match the same records are one: the same, whatever the order or the case. */
function identityOf(filter: UserFilter & PostFilter): Json {
  const { email } = filter;
  const members = { ...filter, email: email === undefined ? undefined : emailKey(email) };
  return JSON.parse(JSON.stringify(members)) as Json;
}

function first(query: Query, name: string): string | undefined {
  return query.get(name)?.[0];
}
