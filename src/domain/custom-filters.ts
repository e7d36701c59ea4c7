import { isPlainObject, type JsonObject } from './json.ts';
import { checkOptions } from './options.ts';
import { knownFields } from './rules.ts';

/** The types of custom fields that lists may be filtered by. */
const customFilterTypes = ['text', 'number', 'boolean'] as const;
export type CustomFilterType = (typeof customFilterTypes)[number];

/** Custom fields that lists of users, or of posts, can be filtered by: their names and types. */
export type CustomFilterFields = Readonly<Record<string, CustomFilterType>>;

/** Values of custom fields, each of the type that its name is declared with; undefined asks for nothing. */
export type CustomFilter = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a deployment declares; none where nothing is said. */
export interface CustomFilters {
  readonly users?: CustomFilterFields | undefined;
  readonly posts?: CustomFilterFields | undefined;
}

/** What a deployment declares that declares nothing. */
export type NoCustomFilters = Readonly<Record<never, never>>;

/** The values of each type. */
interface CustomFilterValues {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
}

/**
 * What a list can be filtered by where `Fields` are declared: their names, and values of their types.
 * Nothing where nothing is declared; anything where the type of the declaration does not tell.
 */
export type CustomFilterOf<Fields> = Fields extends CustomFilterFields
  ? string extends keyof Fields
    ? CustomFilter
    : { readonly [K in keyof Fields]?: CustomFilterValues[Fields[K]] | undefined }
  : Readonly<Record<string, never>>;

/** What is declared for one collection. */
export type FieldsOf<
  Filters extends CustomFilters,
  List extends keyof CustomFilters,
> = List extends keyof Filters ? Filters[List] : undefined;

/** No value has this member, so a declaration that must have it does not compile. */
interface FilterError<Sentence extends string> {
  readonly 'these customFilters cannot be used': Sentence;
}

/**
 * `unknown` where custom fields of these types may have values of what is declared, else a
 * {@link FilterError}: such a filter would match nothing, ever.
 */
export type CheckedFilters<Filters extends CustomFilters, UserCustom, PostCustom> = CheckedFields<
  FieldsOf<Filters, 'users'>,
  UserCustom,
  'user'
> &
  CheckedFields<FieldsOf<Filters, 'posts'>, PostCustom, 'post'>;

type CheckedFields<Fields, Custom, Kind extends string> = Fields extends CustomFilterFields
  ? string extends keyof Fields
    ? unknown
    : {
          [K in keyof Fields & string]: IsFilterable<ValueOf<Custom, K>, Fields[K]> extends true
            ? never
            : FilterError<`By its schema, no ${Kind} has a ${Fields[K]} "${K}".`>;
        }[keyof Fields & string] extends infer Errors
      ? [Errors] extends [never]
        ? unknown
        : Errors
      : never
  : unknown;

/** A field of any arm of a union. */
type ValueOf<T, K extends PropertyKey> = T extends unknown
  ? K extends keyof T
    ? T[K]
    : never
  : never;

type IsFilterable<Value, Type extends CustomFilterType> = unknown extends Value
  ? true
  : [Extract<Value, CustomFilterValues[Type]>] extends [never]
    ? false
    : true;

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

/** The type of a value that custom fields can be filtered by. */
function typeOf(value: unknown): CustomFilterType | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : undefined;
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

/** Whether each value is of the type that its field is declared with. */
export function hasDeclaredTypes(custom: CustomFilter = {}, fields: CustomFilterFields = {}) {
  return Object.entries(custom).every(([name, value]) => typeOf(value) === fields[name]);
}

/**
 * Checks what a caller asks of custom fields.
 *
 * @param fields what is declared
 * @returns what is asked, without what is undefined
 * @throws TypeError for a name that is not declared, or a value of another type
 */
export function checkCustomFilter(
  custom: unknown,
  fields: CustomFilterFields = {},
): CustomFilter | undefined {
  if (custom === undefined) return undefined;
  const given = checkOptions<JsonObject>(custom, Object.keys(fields), 'filter "custom"');
  const asked = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of asked) {
    if (typeOf(value) === fields[name]) continue;
    throw new TypeError(`The filter "${name}" must be ${words[fields[name] ?? 'text']}.`);
  }
  return Object.fromEntries(asked) as CustomFilter;
}

/** What a filter must be; ends the sentence "The filter must be …". */
const words = { text: 'a text', number: 'a finite number', boolean: 'true or false' } as const;
