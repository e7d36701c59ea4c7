import { isPlainObject } from './json.ts';

/**
 * Rejects a value that is not an object, or that has an unknown member: an unknown option must not be
 * ignored.
 *
 * @throws TypeError
 */
export function checkOptions<T extends object>(
  options: unknown,
  names: readonly string[],
  what = 'options',
): T {
  if (!isPlainObject(options)) throw new TypeError(`The ${what} must be an object.`);
  const unknownName = Object.keys(options).find((name) => !names.includes(name));
  if (unknownName === undefined) return options as T;
  throw new TypeError(
    `Unknown name "${unknownName}" in the ${what}. Known names: ${names.join(', ') || 'none'}.`,
  );
}

/**
 * Rejects the promise of a function that must be synchronous. The promise's own rejection must not end the
 * process.
 *
 * @throws TypeError
 */
export function checkSynchronous(result: unknown, what: string): void {
  if (typeof result !== 'object' || result === null || !('then' in result)) return;
  Promise.resolve(result).catch(() => {});
  throw new TypeError(`${what} must be synchronous, but it returned a promise.`);
}
