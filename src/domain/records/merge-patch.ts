import { isPlainObject, setMember } from './json.ts';

/**
 * A JSON merge patch (RFC 7396) of a value: an optional member can be null, which removes it; objects
 * merge, everything else is replaced.
 */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | (undefined extends T[K] ? null : never) }
    : T;

/**
 * Applies a JSON merge patch (RFC 7396, section 2): a key that is absent stays, null removes it,
 * objects merge, everything else replaces.
 *
 * Changes neither argument; the result shares untouched parts with the target. Check the depth of the patch
 * before.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  const merged: Record<string, unknown> = isPlainObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[key];
    else {
      const current = Object.hasOwn(merged, key) ? merged[key] : undefined;
      setMember(merged, key, mergePatch(current, value));
    }
  }
  return merged;
}
