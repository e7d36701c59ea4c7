import {
  declaredField,
  type FieldDeclarations,
  fieldsIn,
  isSortable,
} from '../fields/declared-fields.ts';
import { checkOptions } from '../options.ts';
import { isInstant } from '../records/instant.ts';
import { isPlainObject } from '../records/json.ts';
import type { Collection } from '../records/record.ts';
import { isCleanText } from '../records/text.ts';
import {
  checkFilterValue,
  declaredConditions,
  declaredValueRules,
  hasOnly,
  isText,
  type ValueRule,
} from './declared-filters.ts';
import {
  type Condition,
  filterLimits,
  type ListQuery,
  type Position,
  pageLimits,
  type QueryOrder,
} from './list.ts';
import {
  type DefaultOrder,
  type Filter,
  type FilterType,
  filters,
  instantFields,
  maxFilterIds,
  newestFirst,
  nullableSorts,
  type Order,
  type SharedFilter,
  sorts,
} from './search.ts';

/** A caller's request for a list; every member is optional. */
export interface ListRequest<Filter, Sort extends string, Fields extends FieldNames = FieldNames> {
  /** A record must match all of it; without a filter, every record matches. */
  readonly filter?: Filter | undefined;
  /** By default the newest first, or the last published first for a caller who can see only public posts. */
  readonly order?: Order<Sort> | undefined;
  /** The most records on the page: 1 to 1000, by default 100. A page has at most 100 all the same. */
  readonly limit?: number | undefined;
  /** The position at which the previous page ended; absent for the first page. */
  readonly after?: Position | undefined;
  /** Returns only `id` and these top-level fields of each record; by default whole records. */
  readonly fields?: Fields | undefined;
  /** Whether to count all records that match the filter; by default false. */
  readonly total?: boolean | undefined;
  /** Aborted when the list is no longer needed; the call then throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The names of top-level fields; undefined for whole records. */
export type FieldNames = readonly string[] | undefined;

const requestNames = ['filter', 'order', 'limit', 'after', 'total', 'fields', 'signal'];
/** The same filters, for names that are known only at run time. */
const filtersByName = filters as unknown as Readonly<
  Record<Collection, Readonly<Record<string, Filter<unknown>>>>
>;

const aSpan = 'an object with instants like 2026-11-21T09:30:00.000Z as "from" or "before"';
const knownValueRules: Readonly<Record<FilterType, ValueRule>> = {
  text: { accepts: isText, expected: 'a string' },
  'text or null': { accepts: (it) => it === null || isText(it), expected: 'a string or null' },
  ids: { accepts: areIds, expected: `a list of at most ${maxFilterIds} strings` },
  span: { accepts: isSpan, expected: aSpan },
  'span or null': {
    accepts: (it) => it === null || (isSpan(it) && Object.values(it as object).some(Boolean)),
    expected: `null, or ${aSpan}`,
  },
};

export interface ListOptions {
  readonly collection: Collection;
  /** The default order; the newest first if absent. */
  readonly defaultOrder?: DefaultOrder | undefined;
  readonly declared?: FieldDeclarations | undefined;
}

export interface CheckedRequest<Filter, Sort extends string>
  extends Omit<ListQuery, 'conditions' | 'order'> {
  readonly filter: Filter;
  readonly order: Order<Sort>;
}

/**
 * Checks a list request and fills in its defaults.
 *
 * @throws TypeError for a value of another type, or an unknown name
 * @throws RangeError for an unknown order, or a number that is out of range
 */
export function checkRequest<Filter extends SharedFilter, Sort extends string>(
  request: ListRequest<Filter, Sort>,
  options: ListOptions,
): CheckedRequest<Filter, Sort> {
  checkOptions(request, requestNames, 'request');
  const { defaultOrder = newestFirst } = options;
  const { filter = {} as Filter, after, total = false, signal } = request;
  const order = request.order ?? (defaultOrder as Order<Sort>);
  const { limit = pageLimits.records } = request;
  checkFilter(filter, options);
  checkOrder(order, options);
  if (after !== undefined) {
    const position = checkOptions<Position>(after, ['key', 'id'], 'position');
    if (!isPosition(position, order.by, options.declared)) {
      throw new TypeError('The position "after" must be the "next" of a page in the same order.');
    }
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > pageLimits.max) {
    throw new RangeError(`The limit must be an integer from 1 to ${pageLimits.max}.`);
  }
  if (typeof total !== 'boolean') throw new TypeError('The option "total" must be true or false.');
  const fields = request.fields && checkFields(request.fields);
  const { bytes, records } = pageLimits;
  return { filter, order, limit: Math.min(limit, records), bytes, after, total, fields, signal };
}

export function listQuery<Filter extends SharedFilter, Sort extends string>(
  { filter, order, ...page }: CheckedRequest<Filter, Sort>,
  options: ListOptions,
): ListQuery | undefined {
  const conditions = conditionsOf(filter, options);
  if (conditions === undefined) return undefined;
  return { ...page, conditions, order: queryOrder(order, options.collection, options.declared) };
}

/** Translates a checked filter; undefined if no record can match. */
export function conditionsOf<Filter extends SharedFilter>(
  filter: Filter,
  { collection, declared }: ListOptions,
): readonly Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const field = declaredField(declared, name);
    const found = field
      ? declaredConditions(field, value)
      : filtersByName[collection][name]?.conditions(value);
    if (found === undefined) return undefined;
    conditions.push(...found);
  }
  return conditions;
}

function queryOrder(
  { by, direction }: Order<string>,
  collection: Collection,
  declared: FieldDeclarations | undefined,
): QueryOrder {
  const declaredType = declaredField(declared, by)?.type;
  if (declaredType !== undefined) return { field: by, declaredType, direction };
  const fields = sorts[collection] as Readonly<Record<string, string>>;
  return { field: fields[by] ?? by, direction };
}

function checkFields(fields: readonly unknown[]): readonly string[] {
  if (!Array.isArray(fields) || fields.some((name) => typeof name !== 'string')) {
    throw new TypeError('The option "fields" must be a list of names.');
  }
  return [...new Set<string>(['id', ...fields])];
}

function checkFilter(filter: SharedFilter, { collection, declared = {} }: ListOptions): void {
  const known = filtersByName[collection];
  checkOptions(filter, [...Object.keys(known), ...Object.keys(declared)], 'filter');
  for (const [name, value] of Object.entries(filter)) {
    const field = declaredField(declared, name);
    const type = known[name]?.type ?? 'text';
    checkFilterValue(name, value, field ? declaredValueRules[field.type] : knownValueRules[type]);
  }
  const excess = excessOf(filter);
  if (excess !== undefined) throw new RangeError(excess);
}

/** Returns how a filter exceeds the {@link filterLimits}; undefined if it doesn't. */
export function excessOf(filter: object): string | undefined {
  let [conditions, elements] = [0, 0];
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const isRange = isPlainObject(value);
    conditions += isRange ? Object.values(value).filter((end) => end !== undefined).length : 1;
    // The ids have a limit of their own.
    if (Array.isArray(value) && name !== 'ids') elements += value.length;
  }
  if (conditions > filterLimits.conditions) {
    return `A list can have at most ${filterLimits.conditions} conditions; this one has ${conditions}.`;
  }
  if (elements <= filterLimits.elements) return undefined;
  return `A list can ask for at most ${filterLimits.elements} elements of arrays; this one asks for ${elements}.`;
}

function areIds(value: unknown): boolean {
  // Copied, because `every` skips the holes of an array.
  return Array.isArray(value) && value.length <= maxFilterIds && [...value].every(isText);
}

function isSpan(value: unknown): boolean {
  return hasOnly(value, ['from', 'before'], isInstant);
}

export function sortsOf(collection: Collection, declared?: FieldDeclarations): readonly string[] {
  const sortable = fieldsIn(declared).filter(isSortable);
  return [...Object.keys(sorts[collection]), ...sortable.map(({ name }) => name)];
}

function checkOrder(order: Order<string>, { collection, declared }: ListOptions): void {
  const { by, direction } = checkOptions<Order<string>>(order, ['by', 'direction'], 'order');
  const field = declaredField(declared, by);
  const isSort = field === undefined ? Object.hasOwn(sorts[collection], by) : isSortable(field);
  if (typeof by !== 'string' || !isSort) {
    const allowed = sortsOf(collection, declared).join(', ');
    throw new RangeError(`The order must be by one of ${allowed}.`);
  }
  if (direction !== 'asc' && direction !== 'desc') {
    throw new RangeError('The direction of an order must be "asc" or "desc".');
  }
}

/** Returns true for a possible position in a list with this order. */
export function isPosition(
  position: { readonly key: unknown; readonly id: unknown },
  by: string,
  declared?: FieldDeclarations,
): position is Position {
  const { key, id } = position;
  if (typeof id !== 'string' || !isCleanText(id)) return false;
  const { type } = declaredField(declared, by) ?? {};
  if (type === 'number') return key === null || Number.isFinite(key);
  if (type !== undefined) return key === null || (typeof key === 'string' && isCleanText(key));
  if (key === null) return nullableSorts.includes(by);
  return instantFields.includes(by) ? isInstant(key) : typeof key === 'string' && isCleanText(key);
}
