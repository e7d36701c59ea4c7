/** A JSON value (RFC 8259), as plain JavaScript. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * True for a plain object: not null, not an array, not an instance of a class.
 *
 * Only these count as JSON objects, so that a caller's `Date` or `Map` is rejected and not stored as `{}`.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Sets a member of an object; `__proto__` becomes the plain key that it is in JSON. */
export function setMember<T>(object: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else {
    const plain = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, plain);
  }
}

/**
 * Copies JSON or plain objects of it, like `structuredClone` in a fraction of the time.
 *
 * Recursive: only for values of bounded depth.
 */
export function copyJson<T>(value: T): T;
export function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => copyJson(item));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) setMember(copy, key, copyJson(members[key]));
  return copy;
}

/** Compares JSON values; the order of keys does not matter. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isArray(a) || isArray(b)) {
    return (
      isArray(a) && isArray(b) && a.length === b.length && a.every((v, i) => jsonEqual(v, b[i]))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  );
}

/**
 * Returns the same text for equal JSON values: compact, with keys sorted by code unit (like RFC 8785, but
 * not meant to be signed).
 *
 * Recursive: only for values of bounded depth.
 */
export function canonicalJson(value: Json): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
    return `{${members.join(',')}}`;
  }
  // `String` keeps Infinity. `JSON.stringify` would make it null, which is another value.
  return typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : JSON.stringify(value);
}

/** `Array.isArray` does not narrow a readonly array out of a union. */
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
