import { anyId, integer, type Rules, readPatch } from '../domain/rules.ts';
import type { Versioned } from '../domain/version.ts';
import type { Filter, Reader } from '../ports/store.ts';

/** Returns a page. `next` is the `after` of the next page, if there is one. */
export async function readPage<R extends Versioned>(
  reader: Reader<R>,
  query: unknown,
  filters: Partial<Rules<Required<Filter<R>>>> = {},
) {
  const rules = { ...filters, after: anyId, limit: integer(1, 100) };
  const { after = '', limit = 20, ...filter } = readPatch(query, rules, 'invalid-query');
  // Ask for one more than a page, to learn whether there is a next page.
  const found = await reader.list(filter as Filter<R>, { after, limit: limit + 1 });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
}
