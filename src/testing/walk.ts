import assert from 'node:assert/strict';
import { type Page, type PageRequest, pageLimits } from '../domain/page.ts';
import type { Entity, Versioned } from '../domain/record.ts';

/** A repository, as far as it lists. */
export interface Lister<R, Filter, Order> {
  list(filter: Filter, page: PageRequest<Order>): Promise<Page<Versioned<R>>>;
}

export interface Walk<Filter, Order> {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit?: number;
  /** Called between two pages, with the number of pages so far and the last id on them. */
  readonly between?: (pages: number, lastId: string) => Promise<unknown>;
}

/** Follows a list from page to page, and holds each page to what every page must be. */
export async function walk<R extends Entity, Filter, Order>(
  lister: Lister<R, Filter, Order>,
  { filter, order, limit = pageLimits.max, between = async () => {} }: Walk<Filter, Order>,
): Promise<R[]> {
  const walked: R[] = [];
  let page: Page<Versioned<R>> | undefined;
  for (let pages = 1; page === undefined || page.next !== undefined; pages++) {
    page = await lister.list(filter, { order, limit, after: page?.next });
    assert.ok(page.items.length <= limit, `a page of ${page.items.length} records, limit ${limit}`);
    if (page.next) assert.equal(page.items.length, limit, 'a page before the last one is not full');
    walked.push(...page.items.map(({ record }) => record));
    assert.ok(pages <= 10_000, 'the list does not come to an end');
    if (page.next) await between(pages, page.next.id);
  }
  return walked;
}

export function idsOf(records: readonly Entity[]): string[] {
  return records.map(({ id }) => id);
}
