import { defaultOrder } from '../../../domain/access/access.ts';
import { RostrumError } from '../../../domain/errors.ts';
import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import type { Position } from '../../../domain/lists/list.ts';
import { conditionsOf, excessOf, type ListRequest } from '../../../domain/lists/list-request.ts';
import type { Order, PostFilter, SharedFilter, UserFilter } from '../../../domain/lists/search.ts';
import type { Json } from '../../../domain/records/json.ts';
import type { Collection } from '../../../domain/records/record.ts';
import { type Context, RequestAborted } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import type { Query } from '../target.ts';
import { decodeCursor, encodeCursor, type ListIdentity } from './cursor.ts';
import { readDeclaredFilter } from './declared-filters.ts';
import { readTimes } from './ranges.ts';

/** The parsed query of a list. Its values are already validated. */
export interface ParsedList<Filter, Sort extends string> {
  readonly request: ListRequest<Filter, Sort>;
  /** Returns the cursor for a position in this list. */
  readonly cursorAt: (position: Position) => string;
}

/** @throws Problem `invalid-cursor`, `invalid-query` */
export function readListQuery<Filter extends SharedFilter, Sort extends string>(
  collection: Collection,
  ctx: Context,
  readFilter: (query: Query) => Filter,
  declared: FieldDeclarations | undefined,
): ParsedList<Filter, Sort> {
  const { query, caller } = ctx.state.rostrum;
  const isFiltered = query.keys().some((name) => !pageParameters.has(name));
  const filter = isFiltered ? readFilters(query, readFilter, declared) : ({} as Filter);
  const sort = first(query, 'sort');
  const order = (sort ? readOrder(sort) : defaultOrder(collection, caller)) as Order<Sort>;
  const limit = first(query, 'limit');
  const fields = first(query, 'fields')?.split(',');
  const cursor = first(query, 'cursor');
  // Only pages with a cursor or a next one need it.
  const identity = (): ListIdentity => {
    // Filters that match the same records share their cursors, whatever their case.
    const conditions = (conditionsOf(filter, { collection, declared }) ?? null) as Json;
    return [collection, `${order.direction} ${order.by}`, conditions];
  };
  const after =
    cursor === undefined ? undefined : readCursor(cursor, identity(), order.by, declared);
  return {
    request: {
      filter,
      order,
      ...(limit !== undefined && { limit: Number(limit) }),
      after,
      ...(fields && { fields }),
      total: query.has('count'),
      signal: listSignal(ctx),
    },
    cursorAt: (position) => encodeCursor(position, identity()),
  };
}

/** The parameters that choose a page and its form, but don't filter. */
const pageParameters = new Set(['limit', 'cursor', 'sort', 'count', 'fields', 'include']);

function readFilters<Filter extends SharedFilter>(
  query: Query,
  readFilter: (query: Query) => Filter,
  declared: FieldDeclarations | undefined,
): Filter {
  const filter = { ...readFilter(query), ...readDeclaredFilter(query, declared) };
  const excess = excessOf(filter);
  if (excess !== undefined) throw new Problem('invalid-query', excess, { errors: [] });
  return filter;
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
  const published = readTimes(query, 'publishedAt');
  const isDraft = query.has('publishedAt');
  return {
    ...readEntityFilter(query),
    title: first(query, 'title'),
    titleStartsWith: first(query, 'title[startsWith]'),
    authorId: author === '' ? null : author,
    ...(isDraft && published && { ids: [] }), // A draft does not lie within a span.
    publishedAt: isDraft ? null : published,
  };
}

function readEntityFilter(query: Query): SharedFilter {
  const ids = query.get('id');
  return {
    ids: ids && [...new Set(ids)].sort(),
    createdAt: readTimes(query, 'createdAt'),
    updatedAt: readTimes(query, 'updatedAt'),
  };
}

function readOrder(sort: string): Order<string> {
  return { by: sort.replace(/^-/, ''), direction: sort.startsWith('-') ? 'desc' : 'asc' };
}

/** @throws Problem `invalid-query` */
function readCursor(
  cursor: string,
  list: ListIdentity,
  by: string,
  declared: FieldDeclarations | undefined,
): Position {
  const position = decodeCursor(cursor, list, by, declared);
  if (position !== undefined) return position;
  const message =
    'The cursor belongs to a list with another filter or another sort, or is damaged.';
  const errors = [{ parameter: 'cursor', code: 'invalid', message }];
  throw new Problem('invalid-cursor', message, { errors });
}

function first(query: Query, name: string): string | undefined {
  return query.get(name)?.[0];
}

/** Time limit for one list, in milliseconds. */
const listTimeoutMs = 10_000;

/** Aborted when the client disconnects, or when a list exceeds its time limit. */
export function listSignal({ res }: Context): AbortSignal {
  const controller = new AbortController();
  const onTimeout = () => controller.abort(new RostrumError('overloaded', {}));
  const timer = setTimeout(onTimeout, listTimeoutMs);
  res.once('close', () => {
    clearTimeout(timer);
    if (!res.writableFinished) controller.abort(new RequestAborted());
  });
  return controller.signal;
}
