import type { DeclaredField, DeclaredType } from '../fields/declared-fields.ts';
import { isPlainObject } from '../records/json.ts';
import { isCleanText, prefixSpan } from '../records/text.ts';
import type { Condition } from './list.ts';

/** Values at or after `from`, and before `before`; either end can be open. Text compares by code point. */
export interface Span<T extends string | number> {
  readonly from?: T | undefined;
  readonly before?: T | undefined;
}

export interface ConditionValues {
  /** Exactly this text, a span of texts, or texts that begin with this one. */
  readonly text: string | (Span<string> & { readonly startsWith?: string | undefined });
  readonly number: number | Span<number>;
  readonly boolean: boolean;
  /** Arrays that contain this text, or all of these. */
  readonly 'text[]': string | readonly string[];
}

export const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);

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

export const declaredValueRules: Readonly<Record<DeclaredType, ValueRule>> = {
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
 * @param value passes the field's {@link declaredValueRules}
 */
export function declaredConditions(
  { name: field, type: declaredType }: DeclaredField,
  value: unknown,
): readonly Condition[] | undefined {
  if (declaredType === 'text[]') {
    const texts = [value].flat() as string[];
    if (!texts.every(isCleanText)) return undefined;
    return texts.map((text) => ({ field, declaredType, op: 'has', value: text }));
  }
  if (typeof value === 'object') {
    return spanConditions(field, declaredType, value as TextOrNumberSpan);
  }
  if (typeof value === 'string' && !isCleanText(value)) return undefined;
  // Turns -0 into 0, because a database may tell them apart.
  const equal = value === 0 ? 0 : (value as string | number | boolean);
  return [{ field, declaredType, op: 'eq', value: equal }];
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
