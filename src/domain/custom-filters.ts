import { isPlainObject } from './json.ts';
import type { CustomFilter } from './list.ts';
import { checkOptions } from './options.ts';
import { knownFields } from './rules.ts';

/** The types of custom fields that lists may be filtered by. */
const customFilterTypes = ['text', 'number', 'boolean'] as const;
export type CustomFilterType = (typeof customFilterTypes)[number];

/** Custom fields that lists of users, or of posts, can be filtered by: their names and types. */
export type CustomFilterFields = Readonly<Record<string, CustomFilterType>>;

/** What a deployment declares; none where nothing is said. */
export interface CustomFilters {
  readonly users?: CustomFilterFields | undefined;
  readonly posts?: CustomFilterFields | undefined;
}

/** How many custom fields of users, or of posts, may be declared: each of them costs an index. */
const maxCustomFilters = 32;

/**
 * What a request over HTTP may name besides filters (RFC 6750 has the last), so no filter's name. It is
 * known here, so that no store makes an index for a filter that no request can name.
 */
const listWords = ['limit', 'cursor', 'sort', 'count', 'fields', 'include', 'access_token'];

/** Names that every store can index: not all of them take a dot or a `$`. */
const namePattern = /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,63}$/u;

/**
 * Checks what a deployment declares.
 *
 * @throws TypeError for a name that is no custom field's, and for a type that there is not
 * @throws RangeError for more than 32
 */
export function checkCustomFilters(customFilters: CustomFilters): void {
  checkOptions(customFilters, ['users', 'posts'], 'customFilters');
  for (const list of ['users', 'posts'] as const) {
    const fields: unknown = customFilters[list] ?? {};
    if (!isPlainObject(fields))
      throw new TypeError(`The customFilters of ${list} must be an object.`);
    const taken = [...knownFields[list], ...listWords, '__proto__'];
    for (const [name, type] of Object.entries(fields)) {
      if (taken.includes(name) || !namePattern.test(name)) {
        throw new TypeError(
          `"${name}" cannot be a filter of ${list}: it must be the name of a custom field, in letters, digits, _ and -, and no parameter of lists.`,
        );
      }
      if (!customFilterTypes.some((known) => known === type)) {
        throw new TypeError(
          `The type of "${name}" must be one of ${customFilterTypes.join(', ')}.`,
        );
      }
    }
    if (Object.keys(fields).length > maxCustomFilters) {
      throw new RangeError(`At most ${maxCustomFilters} custom fields of ${list} can be filters.`);
    }
  }
}

/**
 * What a filter asks of custom fields.
 *
 * @param fields what the store was opened with
 * @throws TypeError for a name that is not among them
 */
export function customEqualities(custom: CustomFilter = {}, fields: CustomFilterFields = {}) {
  return Object.entries(custom).map(([name, value]) => {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (type !== undefined) return { name, type, value };
    throw new TypeError(`The store was not opened with "${name}" among its customFilters.`);
  });
}
