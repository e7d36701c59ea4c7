import { isPlainObject } from './json.ts';

/**
 * Refuses what is no options object, or has an option that there is not: a value that is none of
 * those named must never mean "everything else".
 *
 * @throws TypeError
 */
export function checkOptions<T extends object>(
  options: unknown,
  names: readonly string[],
  what = 'options',
): T {
  if (!isPlainObject(options)) throw new TypeError(`The ${what} must be an object.`);
  const strange = Object.keys(options).find((name) => !names.includes(name));
  if (strange === undefined) return options as T;
  throw new TypeError(`"${strange}" is not known in the ${what}; known are ${names.join(', ')}.`);
}
