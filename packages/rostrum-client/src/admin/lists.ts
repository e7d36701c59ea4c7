// Lists for data providers, which have numbered pages.
import type { CallOptions } from '../transport.ts';
import type { AdminPage, AdminRecord, AdminResource, Key } from './resource.ts';

/** Members of `meta` that lists understand. */
export interface ListMeta {
  /** Adds the authors of posts, in the public view. */
  readonly include?: 'author' | undefined;
  /** Limits records to their id and these fields. */
  readonly fields?: readonly unknown[] | undefined;
}

interface ListQuery extends ListMeta {
  readonly count?: 'exact';
  readonly cursor?: unknown;
  readonly sort?: string | undefined;
}

interface Sorter {
  readonly field: string;
  readonly order: string;
}

const listParameters = ['sort', 'limit', 'cursor', 'count', 'fields', 'include'];

/**
 * Builds the query of a list.
 *
 * @throws TypeError for what the API does not support
 */
export function listQuery(
  filters: object,
  sorters: readonly Sorter[],
  { include, fields }: ListMeta = {},
): ListQuery {
  for (const name of listParameters) {
    if (name in filters) throw new TypeError(`"${name}" is not a filter.`);
  }
  if (fields?.some((field) => typeof field !== 'string')) {
    throw new TypeError('"meta.fields" must be an array of names.');
  }
  const [sorter, second] = sorters;
  if (sorter && second) {
    const names = `"${sorter.field}" and "${second.field}"`;
    throw new TypeError(`Lists can be sorted by one field only, not by ${names}.`);
  }
  return { ...withoutEmpty(filters), include, fields, sort: sorter && sortOf(sorter, filters) };
}

/** Leaves out empty texts, also of bounds: an empty input is not a filter. */
function withoutEmpty(filters: object): object {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  return Object.fromEntries(
    given.map(([name, value]) => [name, isPlainObject(value) ? withoutEmpty(value) : value]),
  );
}

function isPlainObject(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function sortOf({ field, order }: Sorter, filters: object): string | undefined {
  const isById = field === 'id';
  // react-admin sorts by id unless told otherwise. A list by many ids has no order.
  if (isById && 'id' in filters) return undefined;
  // Ids are made in the order of creation.
  return `${order.toLowerCase() === 'desc' ? '-' : ''}${isById ? 'createdAt' : field}`;
}

/** The maximum number of records on a page of the API. */
const maxPageSize = 100;
/** The maximum number of lists whose cursors are remembered. */
const maxLists = 100;

/**
 * Numbered pages, made from cursors. It remembers the cursors of pages already seen. Any other page is
 * reached from the closest page before it, in steps of up to 100 records.
 */
export class NumberedPages {
  /** The known cursors of each list, by page index. */
  readonly #lists = new Map<string, (string | null)[]>();

  /** @param number starts at 1 */
  async page(
    resource: AdminResource,
    name: string,
    query: ListQuery,
    { number, size }: { readonly number: number; readonly size: number },
    options: CallOptions,
  ): Promise<AdminPage> {
    const cursors = this.#cursorsOf(JSON.stringify([name, size, query]));
    const target = number - 1;
    let at = Math.max(0, Math.min(target, cursors.length - 1));
    while (at > 0 && cursors[at] === undefined) at--;
    while (at < target) {
      const pages = Math.min(target - at, Math.max(1, Math.floor(maxPageSize / size)));
      const step = { ...query, cursor: cursors[at], include: undefined };
      const skipped = await fullPage(resource, step, pages * size, options);
      if (skipped.next === null) return { ...skipped, items: [] };
      at += pages;
      cursors[at] = skipped.next;
    }
    const page = await fullPage(resource, { ...query, cursor: cursors[at] }, size, options);
    // Later pages may start elsewhere now.
    cursors.length = at + 1;
    if (page.next !== null) cursors[at + 1] = page.next;
    return page;
  }

  #cursorsOf(list: string): (string | null)[] {
    const cursors = this.#lists.get(list) ?? [null];
    this.#lists.delete(list);
    this.#lists.set(list, cursors);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > maxLists && oldest !== undefined) this.#lists.delete(oldest);
    return cursors;
  }
}

/** Reads a page of exactly this size, or all records for `Infinity`. The API's pages can be shorter. */
export async function fullPage(
  resource: AdminResource,
  query: ListQuery,
  size: number,
  options: CallOptions,
): Promise<AdminPage> {
  const items: AdminRecord[] = [];
  const users: object[] = [];
  let page: AdminPage | undefined;
  do {
    const limit = Math.min(size - items.length, maxPageSize);
    page = await resource.list({ ...query, limit, cursor: page?.next ?? query.cursor }, options);
    items.push(...page.items);
    users.push(...(page.users ?? []));
  } while (items.length < size && page.next !== null);
  return { ...page, items, ...(page.users && { users }) };
}

/** Reads records by their ids. Those that do not exist are left out. */
export async function recordsOf(
  resource: AdminResource,
  ids: readonly Key[],
  meta: ListMeta | undefined,
  options: CallOptions,
): Promise<AdminRecord[]> {
  const query = listQuery({ id: ids.map(String) }, [], { fields: meta?.fields });
  const { items } = await fullPage(resource, query, Infinity, options);
  return [...items];
}
