import { isPlainObject, setMember } from '../../../domain/json.ts';

// MongoDB takes any key of a nested object, but the driver's BSON library reads meaning into some:
// `_bsontype` makes it write something else than the object, `$ref` beside `$id` makes it return an
// instance of a class, and it returns an array under a name that objects inherit (`toString`) with
// raw bytes in it. In a document these keys have a `~` in front, as have those that begin with one.
const misread = new Set([...Object.getOwnPropertyNames(Object.prototype), '_bsontype', '$ref']);

function isMisread(key: string): boolean {
  return misread.has(key.startsWith('~') ? key.replace(/^~+/, '') : key);
}

/** A key as it is stored. */
export function escapeKey(key: string): string {
  return isMisread(key) ? `~${key}` : key;
}

/** A JSON value as it is stored. The very same value when no key in it has to change. */
export function escapeKeys(value: unknown): unknown {
  return hasMisread(value) ? renamed(value, (key) => `~${key}`) : value;
}

/** The JSON value that was stored. */
export function unescapeKeys(value: unknown): unknown {
  return hasMisread(value) ? renamed(value, (key) => key.replace(/^~/, '')) : value;
}

// Recursive: for values whose depth is bounded.

function hasMisread(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMisread);
  if (!isPlainObject(value)) return false;
  return Object.keys(value).some((key) => isMisread(key) || hasMisread(value[key]));
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setMember(copy, isMisread(key) ? rename(key) : key, renamed(value[key], rename));
  }
  return copy;
}
