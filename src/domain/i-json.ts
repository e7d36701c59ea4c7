import type { Issues } from './issues.ts';
import { isPlainObject, type Json, type JsonObject, setMember } from './json.ts';
import { recordLimits } from './rules.ts';
import { codePoints, isCleanText } from './text.ts';

type Path = (string | number)[];

/**
 * Reads a value that came from outside as I-JSON (RFC 7493) within the limits of a record.
 *
 * A copy is made, so that nobody else holds a part of it. `undefined` members of objects count as
 * absent, as in `JSON.stringify`; `-0` becomes `0`, as JSON text cannot be trusted to keep it.
 *
 * @returns the copy; parts that have an issue may be missing from it
 */
export function readJson(value: unknown, issues: Issues, path: Path = []): Json | undefined {
  if (issues.full) return undefined;
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return readText(value, issues, path);
    case 'number':
      return readNumber(value, issues, path);
    default:
      if (value === null) return null;
  }
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) {
    issues.add(path, 'type', 'Must be a JSON value.');
    return undefined;
  }
  if (path.length >= recordLimits.depth) {
    issues.add(path, 'too-deep', `Must not be nested more than ${recordLimits.depth} levels deep.`);
    return undefined;
  }
  return isArray
    ? readArray(value, issues, path)
    : readMembers(value, Object.keys(value), issues, path);
}

/**
 * Reads these members of an object, as {@link readJson} does.
 *
 * @param into where they are put: a new object, or one that is being made
 * @returns `into`
 */
export function readMembers(
  members: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  issues: Issues,
  path: Path = [],
  into: Record<string, Json> = {},
): JsonObject {
  for (const key of keys) {
    if (issues.full) break;
    const value = members[key];
    if (value === undefined) continue;
    path.push(key);
    checkKey(key, issues, path);
    const member = readJson(value, issues, path);
    if (member !== undefined) setMember(into, key, member);
    path.pop();
  }
  return into;
}

/** True when objects and arrays are nested deeper than a record may be. */
export function isTooDeep(value: unknown, level = 1): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    level > recordLimits.depth || Object.values(value).some((part) => isTooDeep(part, level + 1))
  );
}

function readText(text: string, issues: Issues, path: Path): string | undefined {
  if (isCleanText(text)) return text;
  issues.add(path, 'invalid', 'Must not contain NUL or half of a surrogate pair.');
  return undefined;
}

/** RFC 7493, section 2.2: a number that a double would change is refused, not rounded. */
function readNumber(number: number, issues: Issues, path: Path): number | undefined {
  const held = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (held) return number === 0 ? 0 : number;
  issues.add(
    path,
    'number-range',
    'An integer must lie within ±(2^53 − 1), and a number must not overflow.',
  );
  return undefined;
}

function readArray(items: readonly unknown[], issues: Issues, path: Path): readonly Json[] {
  const copy: Json[] = [];
  // By index: `map` would skip the holes of a sparse array.
  for (let i = 0; i < items.length && !issues.full; i++) {
    path.push(i);
    const item = readJson(items[i], issues, path);
    if (item !== undefined) copy.push(item);
    path.pop();
  }
  return copy;
}

function checkKey(key: string, issues: Issues, path: Path): void {
  const length = codePoints(key);
  if (length < 1 || length > recordLimits.keyLength) {
    issues.add(path, 'key', `A key must have 1 to ${recordLimits.keyLength} characters.`);
  } else if (key === '__proto__') {
    issues.add(path, 'key', 'A key must not be "__proto__".');
  } else if (!isCleanText(key)) {
    issues.add(path, 'key', 'A key must not contain NUL or half of a surrogate pair.');
  }
}
