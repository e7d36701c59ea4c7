import type { CustomFilterFields, CustomFilterType } from './custom-filters.ts';
import { isInstant } from './instant.ts';
import {
  type EntityFilter,
  maxFilterIds,
  newestFirst,
  type Order,
  type PageRequest,
  type Position,
  pageLimits,
} from './list.ts';
import { checkOptions } from './options.ts';

/** What a caller asks of a list; everything may be left out. */
export interface ListRequest<Filter, Sort extends string> {
  /** All that is said must hold; every record when absent. */
  readonly filter?: Filter | undefined;
  /** The newest first when absent. */
  readonly order?: Order<Sort> | undefined;
  /** Records on the page at most: 1 to 1000, 100 when absent. */
  readonly limit?: number | undefined;
  /** Where the page before ended; the first page when absent. */
  readonly after?: Position | undefined;
  /** Whether to count all records that the filter matches; false when absent. */
  readonly total?: boolean | undefined;
  /** Aborted when the list is wanted no more; the call then ends in its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A list of parts of records: `id`, and the top-level fields that are named. */
export interface PartialListRequest<Filter, Sort extends string> extends ListRequest<Filter, Sort> {
  readonly fields: readonly string[];
}

/** What lists of users, or of posts, can be asked for. */
export interface ListRules<Sort extends string> {
  readonly sorts: readonly Sort[];
  /** The filters on one text, and whether null is a value of it. */
  readonly texts: Readonly<Record<string, { readonly nullable: boolean }>>;
  /** The custom fields that a deployment has declared as filters. */
  readonly custom?: CustomFilterFields | undefined;
}

/**
 * Checks a list request and fills in its defaults, so that no store has to.
 *
 * @throws TypeError for a value of another type, or a name that is not known
 * @throws RangeError for a number or an order that there is not
 */
export function pageRequest<Filter extends EntityFilter, Sort extends string>(
  request: ListRequest<Filter, Sort> & { readonly fields?: readonly string[] | undefined },
  rules: ListRules<Sort>,
): PageRequest<Filter, Sort | 'createdAt'> {
  const known = ['filter', 'order', 'limit', 'after', 'total', 'fields', 'signal'];
  checkOptions(request, known, 'request');
  const { filter = {} as Filter, order = newestFirst, after, total = false, signal } = request;
  const { limit = pageLimits.default } = request;
  checkFilter(filter, rules);
  checkOrder(order, rules.sorts);
  if (after !== undefined) checkPosition(after, order.by);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageLimits.max) {
    throw new RangeError(`The limit must be an integer from 1 to ${pageLimits.max}.`);
  }
  if (typeof total !== 'boolean') throw new TypeError('The option "total" must be true or false.');
  const canMatch = hasDeclaredTypes(filter, rules.custom);
  const found = canMatch ? filter : { ...filter, custom: undefined, ids: [] };
  const fields = request.fields && checkFields(request.fields);
  return { filter: found, order, limit, bytes: pageLimits.bytes, after, total, fields, signal };
}

function checkFields(fields: readonly unknown[]): readonly string[] {
  if (!Array.isArray(fields) || fields.some((name) => typeof name !== 'string')) {
    throw new TypeError('The option "fields" must be a list of names.');
  }
  return [...new Set<string>(['id', ...fields])];
}

function checkFilter(filter: EntityFilter, { texts, custom }: ListRules<string>): void {
  const known = ['ids', 'createdAt', 'updatedAt', 'custom', ...Object.keys(texts)];
  const values = checkOptions<Record<string, unknown>>(filter, known, 'filter');
  const { ids, createdAt, updatedAt } = filter;
  if (ids !== undefined) {
    if (!Array.isArray(ids) || [...ids].some((id) => typeof id !== 'string')) {
      throw new TypeError('The filter "ids" must be a list of texts.');
    }
    if (ids.length > maxFilterIds) {
      throw new RangeError(`The filter "ids" must have at most ${maxFilterIds} ids.`);
    }
  }
  for (const [name, span] of Object.entries({ createdAt, updatedAt })) {
    if (span === undefined) continue;
    const ends = checkOptions<Record<string, unknown>>(
      span,
      ['from', 'before'],
      `filter "${name}"`,
    );
    if (Object.values(ends).every((end) => end === undefined || isInstant(end))) continue;
    throw new TypeError(
      `The filter "${name}" must have instants like 2026-11-21T09:30:00.000Z for "from" and "before".`,
    );
  }
  if (filter.custom !== undefined) {
    const known = Object.keys(custom ?? {});
    const given = checkOptions<object>(filter.custom, known, 'filter "custom"');
    for (const [name, value] of Object.entries(given)) {
      if (typeOf(value) !== undefined) continue;
      throw new TypeError(`The filter "custom" must have a text, number or boolean for "${name}".`);
    }
  }
  for (const [name, { nullable }] of Object.entries(texts)) {
    const value = values[name];
    if (value === undefined || typeof value === 'string' || (nullable && value === null)) continue;
    throw new TypeError(`The filter "${name}" must be a text${nullable ? ' or null' : ''}.`);
  }
}

/** The type of a value that custom fields can be filtered by. */
function typeOf(value: unknown): CustomFilterType | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : undefined;
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

/** False when no record matches, because a value is not of the type that its field has to be of. */
function hasDeclaredTypes({ custom = {} }: EntityFilter, fields: CustomFilterFields = {}): boolean {
  return Object.entries(custom).every(([name, value]) => typeOf(value) === fields[name]);
}

function checkOrder(order: Order<string>, sorts: readonly string[]): void {
  const { by, direction } = checkOptions<Order<string>>(order, ['by', 'direction'], 'order');
  if (!sorts.includes(by)) {
    throw new RangeError(`The order must be by one of ${sorts.join(', ')}.`);
  }
  if (direction !== 'asc' && direction !== 'desc') {
    throw new RangeError('The direction of an order must be "asc" or "desc".');
  }
}

function checkPosition(after: Position, by: string): void {
  const { key, id } = checkOptions<Position>(after, ['key', 'id'], 'position');
  if (typeof id === 'string' && isSortKey(key, by)) return;
  throw new TypeError('The position "after" must be the "next" of a page in the same order.');
}

/** Whether a record can have such a key in a list that is sorted by this. */
export function isSortKey(key: unknown, by: string): key is string | null {
  if (key === null) return by === 'email';
  return by === 'createdAt' || by === 'updatedAt' ? isInstant(key) : typeof key === 'string';
}
