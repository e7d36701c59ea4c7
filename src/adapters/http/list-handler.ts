import type { EntityFilter } from '../../domain/list.ts';
import type { Entity } from '../../domain/record.ts';
import { readListQuery } from './list-query.ts';
import { formatQuery, type Query } from './query.ts';
import type { Handler, Resource } from './record-handlers.ts';

/** What a list needs to know of its records. */
export interface ListedResource<R extends Entity, Filter extends EntityFilter, Sort extends string>
  extends Resource<R, Filter, Sort> {
  readFilter(query: Query): Filter;
  sortKey(record: R, by: Sort): string | null;
}

/** The handler of a list: a page, and where the next one begins. */
export function listHandler<R extends Entity, Filter extends EntityFilter, Sort extends string>({
  path,
  plural,
  service,
  readFilter,
}: ListedResource<R, Filter, Sort>): Handler {
  return async (request) => {
    const { rostrum, base, query } = request;
    const list = readListQuery<Filter, Sort>(plural, query, readFilter(query));
    const { filter, order, limit, after } = list;
    const page = await service(rostrum).list({ filter, order, limit, after, total: list.total });
    const { next, total } = page;
    const texts = page.items.map(({ json }) => json);
    const cursor = next && list.cursorAt(next);
    const members = [
      `${JSON.stringify(plural)}:[${texts.join(',')}]`,
      `"next":${JSON.stringify(cursor ?? null)}`,
      ...(total === undefined ? [] : [`"total":${total}`]),
    ];
    return {
      status: 200,
      headers: {
        'Cache-Control': 'no-cache',
        ...(cursor !== undefined && {
          Link: `<${base}${path}?${formatQuery(query, { cursor })}>; rel="next"`,
        }),
        ...(total !== undefined && { 'X-Total-Count': String(total) }),
      },
      body: `{${members.join(',')}}`,
    };
  };
}
