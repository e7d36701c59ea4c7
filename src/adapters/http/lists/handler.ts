import type { EntityFilter, Page } from '../../../domain/list.ts';
import type { ListRequest } from '../../../domain/list-request.ts';
import type { EntityFields } from '../../../domain/record.ts';
import type { Rostrum } from '../../../domain/services/rostrum.ts';
import type { Handler } from '../endpoint.ts';
import type { Query } from '../exchange.ts';
import { joined, json, revalidated } from '../response.ts';
import { type ListQuery, readListQuery } from './query.ts';

/** What the services of users and of posts have in common for lists. */
interface ListCalls<Filter, Sort extends string> {
  list(request: ListRequest<Filter, Sort>): Promise<Page<EntityFields>>;
}

/** A longer `Link` is left out: clients take no more of a header. */
const maxLinkLength = 8 * 1024;

/** The handler of a list: a page, and where the next one begins. */
export function listHandler<Filter extends EntityFilter, Sort extends string>(
  collection: 'users' | 'posts',
  service: (rostrum: Rostrum) => ListCalls<Filter, Sort>,
  readFilter: (query: Query) => Filter,
): Handler {
  // A query that many requests of an API have is one object (`QueryTable`) with one meaning.
  const known = new WeakMap<Query, ListQuery<Filter, Sort>>();

  return async (exchange, { rostrum }) => {
    const { base, query } = exchange;
    let listed = known.get(query);
    if (listed === undefined) {
      const customFields = rostrum.customFilters[collection];
      listed = readListQuery<Filter, Sort>(collection, query, readFilter, customFields);
      known.set(query, listed);
    }
    const { request, cursorAt, queryAt } = listed;
    const headers = [...revalidated];
    const { items, next, total } = await service(rostrum).list({
      ...request,
      signal: exchange.signal,
    });
    const cursor = next === undefined ? undefined : cursorAt(next);
    if (cursor !== undefined) {
      const link = `<${base}/${collection}?${queryAt(cursor)}>; rel="next"`;
      if (link.length <= maxLinkLength) headers.push('Link', link);
    }
    if (total !== undefined) headers.push('X-Total-Count', String(total));
    const texts = items.map((item) => item.json);
    const counted = total === undefined ? '' : `,"total":${total}`;
    const end = `],"next":${JSON.stringify(cursor ?? null)}${counted}}`;
    return json(200, joined(`{"${collection}":[`, texts, end), headers);
  };
}
