import { DomainError, type ErrorCode } from './errors.ts';

export interface Rule<T> {
  readonly isValid: (value: unknown) => value is T;
  readonly message: string;
}

/** A rule for each field of T. The compiler reports a missing rule. */
export type Rules<T> = { readonly [Name in keyof T]: Rule<T[Name]> };

export const flag: Rule<boolean> = {
  isValid: (value) => typeof value === 'boolean',
  message: 'Must be true or false.',
};

export const integer = (min: number, max: number): Rule<number> => ({
  isValid: (value): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
  message: `Must be an integer from ${min} to ${max}.`,
});

export const text = (min: number, max: number): Rule<string> => ({
  // Databases reject or replace text with half a surrogate pair, which is not well-formed.
  isValid: (value): value is string =>
    typeof value === 'string' && value.isWellFormed() && value.length >= min && value.length <= max,
  message: `Must be a string of ${min} to ${max} characters.`,
});

export const anyId = text(1, 100);

/** Reads every field. A missing field is invalid unless it has a default. */
export function readFields<T>(input: unknown, rules: Rules<T>, defaults: Partial<T> = {}): T {
  const none = Object.fromEntries(Object.keys(rules).map((name) => [name, undefined]));
  return readPatch({ ...none, ...defaults, ...(input as object) }, rules, 'invalid-input') as T;
}

/** Reads the fields that are present. Throws an error that lists all invalid fields. */
export function readPatch<T>(input: unknown, rules: Rules<T>, code: ErrorCode): Partial<T> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (!isObject) throw new DomainError(code, [{ field: '', message: 'Must be an object.' }]);
  const issues = Object.entries(input).flatMap(([field, value]) => {
    if (!Object.hasOwn(rules, field)) return { field, message: 'Unknown field.' };
    const { isValid, message } = rules[field as keyof T];
    return isValid(value) ? [] : { field, message };
  });
  if (issues.length > 0) throw new DomainError(code, issues);
  return input as Partial<T>;
}
