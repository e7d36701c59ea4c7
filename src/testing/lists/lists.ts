import {
  type Condition,
  compareKeys,
  comparePositions,
  type ListQuery,
  type Page,
  pageLimits,
  type QueryField,
  type SortKey,
} from '../../domain/lists/list.ts';
import { declaredValue, type SearchRow } from '../../domain/lists/search.ts';
import type { Receipt } from '../../domain/records/receipt.ts';
import type { Collection, Entity, Versioned } from '../../domain/records/record.ts';
import type { Repository } from '../../ports/repository.ts';
import { assert, expectEqual, quote } from '../assertions.ts';
import { type Resource, rowOf } from '../suite.ts';

type Lister<R> = Pick<Repository<R>, 'list'>;

/** Creates records, a hundred at a time: more at once may overload a store. Returns their ids. */
export async function insert<R extends Entity>(
  records: { create(record: R, receipt?: Receipt): Promise<unknown> },
  created: readonly R[],
  receipts: readonly Receipt[] = [],
): Promise<string[]> {
  for (let n = 0; n < created.length; n += 100) {
    const part = created.slice(n, n + 100);
    await Promise.all(part.map((record, m) => records.create(record, receipts[n + m])));
  }
  return idsOf(created);
}

/** Lists records: all of them, the oldest first, unless the query says otherwise. */
export function list<R>(records: Lister<R>, query: Partial<ListQuery> = {}): Promise<Page<R>> {
  const order = { field: 'createdAt', direction: 'asc' } as const;
  return records.list({ conditions: [], order, limit: 100, bytes: pageLimits.bytes, ...query });
}

/** Reads a list from page to page to its end. */
export async function readAll<R extends Entity>(
  records: Lister<R>,
  query: Partial<ListQuery> = {},
): Promise<R[]> {
  const found: R[] = [];
  const { limit = pageLimits.max } = query;
  let page: Page<R> | undefined;
  for (let pages = 1; page === undefined || page.next !== undefined; pages++) {
    page = await list(records, { ...query, limit, after: page?.next });
    const { length } = page.items;
    assert(length <= limit, `a page has ${length} records, the limit is ${limit}`);
    assert(length > 0 || !page.next, 'an empty page has a next page');
    found.push(...recordsOf(page.items));
    assert(pages <= 10_000, 'the list does not end');
  }
  return found;
}

/** Expects exactly these records, the oldest first: in one list, in its total and page by page. */
export async function expectMatches<R extends Entity>(
  records: Lister<R>,
  conditions: readonly Condition[],
  ids: readonly string[],
): Promise<void> {
  const query = quote(conditions);
  const page = await list(records, { conditions, total: true });
  expectEqual(`the list of ${query}`, idsOf(recordsOf(page.items)), ids);
  expectEqual(`the total of ${query}`, page.total, ids.length);
  const found = await readAll(records, { conditions, limit: 1 });
  expectEqual(`the pages of ${query}`, idsOf(found), ids);
}

/** Expects those of the created records, the oldest first, that meet the conditions. */
export async function expectSelected<R extends Entity>(
  { name, records }: Resource<R>,
  created: readonly R[],
  ...conditions: Condition[]
): Promise<void> {
  const query = { conditions, order: { field: 'createdAt', direction: 'asc' } } as const;
  const expected = idsOf(select(name, created, query));
  const { items, total } = await list(records, { ...query, total: true });
  expectEqual('the list', idsOf(recordsOf(items)), expected);
  expectEqual('the total', total, expected.length);
}

/** Returns the matching records in order, as a store has to list them. */
export function select<R extends Entity>(
  name: Collection,
  records: readonly R[],
  { conditions, order, after }: Pick<ListQuery, 'conditions' | 'order' | 'after'>,
): R[] {
  const sign = order.direction === 'asc' ? 1 : -1;
  return records
    .map((record) => ({ record, row: rowOf(name, record) }))
    .filter(({ record, row }) =>
      conditions.every((one) => isMet(one, one.declaredType ? record : row)),
    )
    .map(({ record, row }) => ({ record, key: sortKeyOf(record, row, order), id: record.id }))
    .filter((one) => after === undefined || sign * comparePositions(one, after) > 0)
    .sort((a, b) => sign * comparePositions(a, b))
    .map(({ record }) => record);
}

export function sortKeyOf(record: object, row: SearchRow, by: QueryField): SortKey {
  return by.declaredType ? declaredValue(record, by.field) : (row[by.field] ?? null);
}

function isMet(condition: Condition, values: object): boolean {
  const value: unknown = Reflect.get(values, condition.field);
  if (condition.op === 'isNull') return value === null;
  if (condition.op === 'eq') return value === condition.value;
  if (condition.op === 'has') return Array.isArray(value) && value.includes(condition.value);
  if (condition.op === 'in') return condition.value.some((one) => one === value);
  if (typeof value !== typeof condition.value) return false; // null, missing, or inherited
  const order = compareKeys(value as SortKey, condition.value);
  return condition.op === 'from' ? order >= 0 : order < 0;
}

type Make<Value> = (field: string, value: Value) => Condition;
export const eq: Make<string> = (field, value) => ({ field, op: 'eq', value });
export const oneOf: Make<readonly string[]> = (field, value) => ({ field, op: 'in', value });
export const from: Make<string> = (field, value) => ({ field, op: 'from', value });

export function has(field: string, value: string): Condition {
  return { field, declaredType: 'text[]', op: 'has', value };
}

/** A condition on a declared field with the type of the value. */
export function declaredEq(field: string, value: string | number | boolean): Condition {
  const declaredType = typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean');
  return { field, declaredType, op: 'eq', value };
}

export function recordsOf<R>(items: readonly Versioned<R>[]): R[] {
  return items.map(({ record }) => record);
}

export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}
