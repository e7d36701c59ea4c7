import type { CustomFilterFields } from '../../../domain/custom-filters.ts';
import type { EntityFilter } from '../../../domain/list.ts';
import type { Collection } from '../../../domain/record.ts';
import type { AnyRostrum, AnyService } from '../../../domain/services/rostrum.ts';
import type { Handler } from '../endpoint.ts';
import type { Query } from '../exchange.ts';
import { joined, json, revalidated } from '../response.ts';
import { type ListQuery, readListQuery } from './query.ts';

/** A longer `Link` is left out: clients take no more of a header. */
const maxLinkLength = 8 * 1024;

/** The handler of a list: a page, and where the next one begins. */
export function listHandler<Filter extends EntityFilter, Sort extends string>(
  collection: Collection,
  service: (rostrum: AnyRostrum) => AnyService<Filter, Sort>,
  readFilter: (query: Query) => Filter,
  customFields: CustomFilterFields | undefined,
): Handler {
  const known = new WeakMap<Query, ListQuery<Filter, Sort>>();

  function read(query: Query): ListQuery<Filter, Sort> {
    const last = known.get(query);
    if (last !== undefined) return last;
    const listed = readListQuery<Filter, Sort>(collection, query, readFilter, customFields);
    known.set(query, listed);
    return listed;
  }

  return async (exchange) => {
    const { request, cursorAt, queryAt } = read(exchange.query);
    const headers = [...revalidated];
    const { items, next, total } = await service(exchange.rostrum).list({
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
    const end = `],"next":${JSON.stringify(cursor ?? null)}${counted}}\n`;
    return json(200, joined(`{"${collection}":[`, texts, end), headers);
  };
}
