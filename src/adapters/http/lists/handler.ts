import { defaultOrder } from '../../../domain/access.ts';
import type { CustomFilterFields } from '../../../domain/custom-filters.ts';
import type { Page } from '../../../domain/list.ts';
import type { ListRequest } from '../../../domain/list-request.ts';
import type { Collection, Versioned } from '../../../domain/record.ts';
import {
  type DefaultOrder,
  type EntityFilter,
  lastPublishedFirst,
  newestFirst,
} from '../../../domain/search.ts';
import type { Handler } from '../endpoint.ts';
import type { Exchange, Query } from '../exchange.ts';
import { joined, json, revalidated } from '../response.ts';
import { type ListQuery, readListQuery } from './query.ts';

/** A longer `Link` is left out: clients take no more of a header. */
const maxLinkLength = 8 * 1024;

/** Reads a page of what a caller may see. */
export type ReadPage<Filter, Sort extends string> = (
  exchange: Exchange,
  request: ListRequest<Filter, Sort>,
) => Promise<Page<unknown> & { readonly users?: readonly Versioned<unknown>[] }>;

/** The handler of a list: a page, and where the next one begins. */
export function listHandler<Filter extends EntityFilter, Sort extends string>(
  collection: Collection,
  readPage: ReadPage<Filter, Sort>,
  readFilter: (query: Query) => Filter,
  customFields: CustomFilterFields | undefined,
): Handler {
  const orders = [newestFirst, lastPublishedFirst] as const;
  const known = new Map(
    orders.map((order) => [order as DefaultOrder, new WeakMap<Query, ListQuery<Filter, Sort>>()]),
  );

  function read({ query, caller }: Exchange): ListQuery<Filter, Sort> {
    const order = defaultOrder(collection, caller);
    const last = known.get(order)?.get(query);
    if (last !== undefined) return last;
    const listed = readListQuery<Filter, Sort>(collection, query, readFilter, customFields, order);
    known.get(order)?.set(query, listed);
    return listed;
  }

  return async (exchange) => {
    const { request, cursorAt, queryAt } = read(exchange);
    const headers = [...revalidated];
    const { items, next, total, users } = await readPage(exchange, {
      ...request,
      signal: exchange.signal,
    });
    const cursor = next === undefined ? undefined : cursorAt(next);
    if (cursor !== undefined) {
      const link = `<${exchange.base}/${collection}?${queryAt(cursor)}>; rel="next"`;
      if (link.length <= maxLinkLength) headers.push('Link', link);
    }
    if (total !== undefined) headers.push('X-Total-Count', String(total));
    const texts = items.map((item) => item.json);
    const counted = total === undefined ? '' : `,"total":${total}`;
    const authors = users && `,"users":[${users.map((user) => user.json).join(',')}]`;
    const end = `]${authors ?? ''},"next":${JSON.stringify(cursor ?? null)}${counted}}\n`;
    return json(200, joined(`{"${collection}":[`, texts, end), headers);
  };
}
