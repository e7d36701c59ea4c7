import { type EntityFilter, type Page, type PageRequest, pageLimits } from '../domain/list.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Entity, Versioned } from '../domain/record.ts';
import { check, is, textOf } from './assertions.ts';

/** A repository, as far as it lists. */
export interface Lister<R, Filter, Sort extends string> {
  list(request: PageRequest<Filter, Sort | 'createdAt'>): Promise<Page<R>>;
}

type Request<Filter, Sort extends string> = Partial<PageRequest<Filter, Sort | 'createdAt'>>;

/** Stores records, a hundred at a time: a store may be overloaded by more. */
export async function put<R extends Entity>(
  records: { create(record: R, receipt?: Receipt): Promise<unknown> },
  made: readonly R[],
  keys: readonly Receipt[] = [],
): Promise<string[]> {
  for (let n = 0; n < made.length; n += 100) {
    const part = made.slice(n, n + 100);
    await Promise.all(part.map((record, m) => records.create(record, keys[n + m])));
  }
  return idsOf(made);
}

/** Stores what is made of each of the items. */
export function putEach<R extends Entity, T>(
  records: { create(record: R): Promise<unknown> },
  items: readonly T[],
  make: (item: T, n: number) => R,
): Promise<string[]> {
  return put(records, items.map(make));
}

/** A page of all records, the oldest first, but for what is asked otherwise. */
export function pageOf<R, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  request: Request<Filter, Sort> = {},
): Promise<Page<R>> {
  const order = { by: 'createdAt', direction: 'asc' } as const;
  const { bytes } = pageLimits;
  return lister.list({ filter: {} as Filter, order, limit: 100, bytes, ...request });
}

export interface Walk<Filter, Sort extends string> extends Request<Filter, Sort> {
  /** Called between two pages, with the number of pages so far and the last id on them. */
  readonly between?: (pages: number, lastId: string) => Promise<unknown>;
}

/** Follows a list from page to page, and holds each page to what every page must be. */
export async function walk<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  { between = async () => {}, ...request }: Walk<Filter, Sort> = {},
): Promise<R[]> {
  const walked: R[] = [];
  const { limit = pageLimits.max } = request;
  let page: Page<R> | undefined;
  for (let pages = 1; page === undefined || page.next !== undefined; pages++) {
    page = await pageOf(lister, { ...request, limit, after: page?.next });
    const { length } = page.items;
    check(length <= limit, `a page of ${length} records, limit ${limit}`);
    check(length > 0 || !page.next, 'a page has a next one and no record');
    walked.push(...recordsOf(page.items));
    check(pages <= 10_000, 'the list does not come to an end');
    if (page.next) await between(pages, page.next.id);
  }
  return walked;
}

/** Holds the list, its total and its pages, oldest first, to the ids that a filter has to match. */
export async function matches<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  filter: Filter,
  ids: readonly string[],
): Promise<void> {
  const asked = textOf(filter);
  const page = await pageOf(lister, { filter, total: true });
  is(`list of ${asked}`, idsOf(recordsOf(page.items)), ids);
  is(`total of ${asked}`, page.total ?? Number.NaN, ids.length);
  is(`walk of ${asked}`, idsOf(await walk(lister, { filter, limit: 1 })), ids);
}

export function recordsOf<R>(items: readonly Versioned<R>[]): R[] {
  return items.map(({ record }) => record);
}

export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}
