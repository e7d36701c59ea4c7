import { isPlainObject, setMember } from '../../domain/json.ts';

// MongoDB takes any key of a nested object, but the driver's BSON library reads meaning into some:
// `_bsontype` makes it write something else than the object, `$ref` beside `$id` makes it return an
// instance of a class, and what lies in an array under a name that objects inherit (`toString`) it
// returns as raw bytes. Own fields may be called so; in a document these keys carry a `~` in front
// (and so do those that begin with one, to be told apart).
function isMisread(key: string): boolean {
  const bare = key.startsWith('~') ? key.replace(/^~+/, '') : key;
  return bare === '_bsontype' || bare === '$ref' || bare in Object.prototype;
}

/** A JSON value as it is stored. The very same value when no key in it has to change. */
export function escapeKeys(value: unknown): unknown {
  return mapKeys(value, (key) => (isMisread(key) ? `~${key}` : key));
}

/** The JSON value that was stored. */
export function unescapeKeys(value: unknown): unknown {
  return mapKeys(value, (key) => (key.startsWith('~') && isMisread(key) ? key.slice(1) : key));
}

/** Recursive: for values whose depth is bounded. Copies only what changes. */
function mapKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [i, item] of value.entries()) {
      const mapped = mapKeys(item, rename);
      if (mapped === item) continue;
      copy ??= [...value];
      copy[i] = mapped;
    }
    return copy ?? value;
  }
  if (!isPlainObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  const keys = Object.keys(value);
  for (const [i, key] of keys.entries()) {
    const name = rename(key);
    const member = mapKeys(value[key], rename);
    if (copy === undefined && (name !== key || member !== value[key])) {
      copy = {};
      for (const earlier of keys.slice(0, i)) setMember(copy, earlier, value[earlier]);
    }
    if (copy !== undefined) setMember(copy, name, member);
  }
  return copy ?? value;
}
