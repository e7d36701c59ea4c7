import {
  type DeclaredFields,
  type DeclaredType,
  declaredField,
  type FieldDeclarations,
  type FieldsOf,
  type SortableType,
} from './declared-fields.ts';
import { isPlainObject, type JsonObject } from './json.ts';
import type { Condition } from './list.ts';
import { checkOptions } from './options.ts';
import { isCleanText, prefixSpan } from './text.ts';

/** Values at or after `from`, and before `before`; either end can be open. Text compares by code point. */
export interface Span<T extends string | number> {
  readonly from?: T | undefined;
  readonly before?: T | undefined;
}

/** The filters of each type. */
interface ConditionValues {
  /** Exactly this text, a span of texts, or texts that begin with this one. */
  readonly text: string | (Span<string> & { readonly startsWith?: string | undefined });
  readonly number: number | Span<number>;
  readonly boolean: boolean;
  /** Arrays that contain this text, or all of these. */
  readonly 'text[]': string | readonly string[];
}

/** Conditions on custom fields, each by its declared type; undefined is not a condition. */
export type DeclaredFilter = Readonly<Record<string, ConditionValues[DeclaredType] | undefined>>;

/** The declared fields that a list can be sorted by; any name if the declaration is not known. */
export type DeclaredSortOf<Fields> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? string & NonNullable<unknown>
    : {
        [K in keyof Fields & string]: TypeOf<Fields[K]> extends SortableType ? K : never;
      }[keyof Fields & string]
  : never;

/**
 * The filters of a list for these declared `Fields`: their names, and values of their types. None if
 * nothing is declared; any if the type of the declaration is too general.
 */
export type DeclaredFilterOf<Fields> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? DeclaredFilter
    : {
        readonly [K in keyof Fields]?:
          | ConditionValues[TypeOf<Fields[K]> & DeclaredType]
          | undefined;
      }
  : Readonly<Record<string, never>>;

/**
 * Checks a caller's filter on custom fields.
 *
 * @param fields the declared fields
 * @throws TypeError for an undeclared name, or a value that does not fit the field's type
 */
export function checkDeclaredFilter(
  custom: unknown,
  fields: FieldDeclarations = {},
): DeclaredFilter {
  if (custom === undefined) return {};
  const filter = checkOptions<JsonObject>(custom, Object.keys(fields), 'filter "custom"');
  for (const [name, value] of Object.entries(filter)) {
    const { type = 'text' } = declaredField(fields, name) ?? {};
    checkFilterValue(name, value, declaredValueRules[type]);
  }
  return filter as DeclaredFilter;
}

export const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);

/** The values that a filter takes. */
export interface ValueRule {
  readonly accepts: (value: unknown) => boolean;
  /** Ends the sentence "The filter must be …". */
  readonly expected: string;
}

/** @throws TypeError for a value that the filter does not take; undefined is not a filter */
export function checkFilterValue(name: string, value: unknown, rule: ValueRule): void {
  if (value === undefined || rule.accepts(value)) return;
  throw new TypeError(`The filter "${name}" must be ${rule.expected}.`);
}

const declaredValueRules: Readonly<Record<DeclaredType, ValueRule>> = {
  text: {
    accepts: (value) => isText(value) || hasOnly(value, ['from', 'before', 'startsWith'], isText),
    expected: 'a string, or an object with "from", "before" or "startsWith"',
  },
  number: {
    accepts: (value) => Number.isFinite(value) || hasOnly(value, ['from', 'before'], isNumber),
    expected: 'a finite number, or an object with "from" or "before"',
  },
  boolean: { accepts: (value) => typeof value === 'boolean', expected: 'true or false' },
  'text[]': {
    accepts: (value) => isText(value) || (Array.isArray(value) && [...value].every(isText)),
    expected: 'a string or a list of strings',
  },
};

/** True for an object with no other members than these, whose values are accepted or undefined. */
export function hasOnly(
  value: unknown,
  names: readonly string[],
  accepts: (value: unknown) => boolean,
): boolean {
  if (!isPlainObject(value)) return false;
  const members = Object.entries(value);
  return members.every(
    ([name, member]) => names.includes(name) && (member === undefined || accepts(member)),
  );
}

/**
 * Returns the conditions that a matching record meets; undefined if no record can match.
 *
 * @param filter checked by {@link checkDeclaredFilter}
 */
export function declaredConditions(
  filter: DeclaredFilter,
  fields: FieldDeclarations = {},
): readonly Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [field, value] of Object.entries(filter)) {
    const declaredType = declaredField(fields, field)?.type;
    if (value === undefined || declaredType === undefined) continue;
    if (declaredType === 'text[]') {
      const texts = [value].flat() as string[];
      if (!texts.every(isCleanText)) return undefined;
      for (const text of texts) conditions.push({ field, declaredType, op: 'has', value: text });
    } else if (typeof value !== 'object') {
      if (typeof value === 'string' && !isCleanText(value)) return undefined;
      // Turns -0 into 0, because a database may tell them apart.
      conditions.push({ field, declaredType, op: 'eq', value: value === 0 ? 0 : value });
    } else {
      const more = spanConditions(field, declaredType, value as TextOrNumberSpan);
      if (more === undefined) return undefined;
      conditions.push(...more);
    }
  }
  return conditions;
}

type TextOrNumberSpan = Span<string | number> & { readonly startsWith?: string | undefined };

function spanConditions(
  field: string,
  declaredType: DeclaredType,
  { from, before, startsWith }: TextOrNumberSpan,
): readonly Condition[] | undefined {
  const texts = [from, before, startsWith].filter((one) => typeof one === 'string');
  if (!texts.every(isCleanText)) return undefined;
  const prefix: { readonly from?: string; readonly before?: string | undefined } =
    startsWith === undefined ? {} : prefixSpan(startsWith);
  const ends = [
    { op: 'from', value: from },
    { op: 'from', value: prefix.from },
    { op: 'before', value: before },
    { op: 'before', value: prefix.before },
  ] as const;
  return ends.flatMap(({ op, value }) =>
    value === undefined ? [] : { field, declaredType, op, value },
  );
}

/** Returns the smallest value after this one, so that `from` can express "greater than". */
export function nextValue<T extends string | number>(value: T): T extends string ? string : number;
export function nextValue(value: string | number): string | number {
  // No text contains NUL, so U+0001 makes the next text.
  if (typeof value === 'string') return `${value}\u0001`;
  if (value === 0) return Number.MIN_VALUE;
  if (!Number.isFinite(value)) return value;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** The values of each type in a record. */
interface DeclaredValues {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly 'text[]': readonly unknown[];
}

type TypeOf<Declaration> = Declaration extends { readonly type: infer Type } ? Type : Declaration;

/** No value has this member, so a declaration that is required to have it does not compile. */
interface FilterError<Sentence extends string> {
  readonly 'these declaredFields cannot be used': Sentence;
}

/**
 * `unknown` if custom fields of these types can have values of the declared type, otherwise a
 * {@link FilterError}: such a filter would never match anything.
 */
export type CheckedFilters<Filters extends DeclaredFields, UserCustom, PostCustom> = CheckedFields<
  FieldsOf<Filters, 'users'>,
  UserCustom,
  'user'
> &
  CheckedFields<FieldsOf<Filters, 'posts'>, PostCustom, 'post'>;

type CheckedFields<Fields, Custom, Kind extends string> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? unknown
    : {
          [K in keyof Fields & string]: IsFilterable<
            ValueOf<Custom, K>,
            TypeOf<Fields[K]> & DeclaredType
          > extends true
            ? never
            : FilterError<`By its schema, no ${Kind} has a ${TypeOf<Fields[K]> & DeclaredType} "${K}".`>;
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

type IsFilterable<Value, Type extends DeclaredType> = unknown extends Value
  ? true
  : [Extract<Value, DeclaredValues[Type]>] extends [never]
    ? false
    : true;
