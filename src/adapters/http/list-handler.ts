import type { EntityFilter } from '../../domain/page.ts';
import type { Entity, Versioned } from '../../domain/record.ts';
import { readListQuery } from './list-query.ts';
import { formatQuery, type Query } from './query.ts';
import type { Handler, Resource } from './record-handlers.ts';

/** What a list needs to know of its records. */
export interface ListedResource<R extends Entity, Filter, Sort extends string>
  extends Resource<R, Filter, Sort> {
  readFilter(query: Query): Filter;
  sortKey(record: R, by: Sort): string | null;
}

/**
 * How many characters of records a page may have before it ends early. Pages may be shorter than
 * `limit`; without this one of a thousand large records would be larger than a string can be.
 */
const pageCharacters = 32 * 1024 * 1024;

/** The handler of a list: a page, and where the next one begins. */
export function listHandler<R extends Entity, Filter extends EntityFilter, Sort extends string>({
  path,
  plural,
  service,
  readFilter,
  sortKey,
}: ListedResource<R, Filter, Sort>): Handler {
  return async ({ rostrum, base, query }) => {
    const list = readListQuery<Filter, Sort>(plural, query, readFilter(query));
    const page = await service(rostrum).list(list);

    const { texts, cutAt } = render(page.items);
    const next =
      cutAt === undefined ? page.next : { key: sortKey(cutAt, list.order.by), id: cutAt.id };
    const cursor = next && list.cursorAt(next);

    const { total } = page;
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

/** The records as JSON, as many as a page may carry; `cutAt` is the last one if there are more. */
function render<R extends Entity>(
  items: readonly Versioned<R>[],
): { texts: readonly string[]; cutAt?: R } {
  const texts: string[] = [];
  let length = 0;
  for (const [i, { record }] of items.entries()) {
    const text = JSON.stringify(record);
    texts.push(text);
    length += text.length;
    if (length >= pageCharacters && i < items.length - 1) return { texts, cutAt: record };
  }
  return { texts };
}
