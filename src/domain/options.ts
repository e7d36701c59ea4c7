import { isPlainObject } from './records/json.ts';

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
  const [meant] = names
    .filter((name) => isSimilar(unknownName, name))
    .sort((a, b) => editDistance(unknownName, a) - editDistance(unknownName, b));
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw new TypeError(
    `Unknown name "${unknownName}" in the ${what}.${hint} Known names: ${names.join(', ') || 'none'}.`,
  );
}

/** True if at most a third of the characters differ, ignoring case. */
function isSimilar(text: string, name: string): boolean {
  if (text.length > 2 * name.length) return false;
  return editDistance(text.toLowerCase(), name.toLowerCase()) <= name.length / 3;
}

/** Returns how many characters to add, remove or replace (Levenshtein distance). */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, x] of [...a].entries()) {
    const row = [i + 1];
    for (const [j, y] of [...b].entries()) {
      const replaced = (above[j] ?? 0) + Number(x !== y);
      row.push(Math.min(replaced, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
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
