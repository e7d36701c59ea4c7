import { type CustomFilterFields, checkCustomFilter } from './custom-filters.ts';
import { isInstant } from './instant.ts';
import { isPlainObject } from './json.ts';
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
import { isCleanText, textKey } from './text.ts';

/** What a caller asks of a list; everything may be left out. */
export interface ListRequest<Filter, Sort extends string> {
  /** All that is said must hold; every record when absent. */
  readonly filter?: Filter | undefined;
  /** The newest first when absent; to a caller that sees public posts only, the last published. */
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

/** What a filter takes; the words end the sentence "The filter must be …". */
const filterTypes = {
  text: { takes: isText, words: 'a text' },
  'text or null': { takes: (it: unknown) => it === null || isText(it), words: 'a text or null' },
  prefix: { takes: isText, words: 'a text' },
  span: { takes: isSpan, words: 'instants like 2026-11-21T09:30:00.000Z for "from" and "before"' },
  'span or null': {
    takes: (it: unknown) => it === null || (isSpan(it) && Object.keys(it as object).length > 0),
    words: 'null, or instants like 2026-11-21T09:30:00.000Z for "from", "before" or both',
  },
  ids: { takes: areIds, words: `a list of at most ${maxFilterIds} texts` },
};

type FilterTypes = Readonly<Record<string, keyof typeof filterTypes>>;

const sharedFilters: FilterTypes = { ids: 'ids', createdAt: 'span', updatedAt: 'span' };

/** What lists of users, or of posts, can be asked for. */
export interface ListRules<Sort extends string> {
  readonly sorts: readonly Sort[];
  /** The filters beside those that every list has. */
  readonly filters: FilterTypes;
  /** The order when a request says none; the newest first when absent. */
  readonly defaultOrder?: Order<string> | undefined;
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
  const { defaultOrder = newestFirst } = rules;
  const { filter = {} as Filter, after, total = false, signal } = request;
  const { order = defaultOrder as Order<Sort> } = request;
  const { limit = pageLimits.default } = request;
  checkFilter(filter, rules);
  const custom = checkCustomFilter(filter.custom, rules.custom);
  checkOrder(order, rules.sorts);
  if (after !== undefined) checkPosition(after, order.by);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageLimits.max) {
    throw new RangeError(`The limit must be an integer from 1 to ${pageLimits.max}.`);
  }
  if (typeof total !== 'boolean') throw new TypeError('The option "total" must be true or false.');
  const canMatch = hasCleanPrefixes(filter, rules);
  const fields = request.fields && checkFields(request.fields);
  const asked = { ...filter, custom, ...(!canMatch && { ids: [] }) };
  return { filter: asked, order, limit, bytes: pageLimits.bytes, after, total, fields, signal };
}

function checkFields(fields: readonly unknown[]): readonly string[] {
  if (!Array.isArray(fields) || fields.some((name) => typeof name !== 'string')) {
    throw new TypeError('The option "fields" must be a list of names.');
  }
  return [...new Set<string>(['id', ...fields])];
}

function checkFilter(filter: EntityFilter, { filters }: ListRules<string>): void {
  const types = { ...sharedFilters, ...filters };
  const known = [...Object.keys(types), 'custom'];
  const given = checkOptions<Record<string, unknown>>(filter, known, 'filter');
  for (const [name, type] of Object.entries(types)) {
    const { takes, words } = filterTypes[type];
    if (given[name] === undefined || takes(given[name])) continue;
    throw new TypeError(`The filter "${name}" must be ${words}.`);
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function areIds(value: unknown): boolean {
  // A copy: `every` would pass over the holes of an array.
  return Array.isArray(value) && value.length <= maxFilterIds && [...value].every(isText);
}

function isSpan(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { from, before, ...others } = value;
  const areInstants = [from, before].every((end) => end === undefined || isInstant(end));
  return areInstants && Object.keys(others).length === 0;
}

/** False when no record matches, because no text of a record can begin like that. */
function hasCleanPrefixes(filter: object, { filters }: ListRules<string>): boolean {
  return Object.entries(filter).every(
    ([name, value]) => filters[name] !== 'prefix' || value === undefined || isCleanText(value),
  );
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
  if (key === null) return by === 'email' || by === 'publishedAt';
  return by.endsWith('At') ? isInstant(key) : typeof key === 'string' && textKey(key) === key;
}
