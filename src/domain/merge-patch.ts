import { isPlainObject } from './json.ts';

/**
 * JSON merge patch (RFC 7396, section 2): a key that is absent stays, null removes it, objects
 * merge, everything else replaces.
 *
 * Neither argument is changed; what the patch does not touch is shared with the target. The patch
 * is not checked: its depth has to be bounded before.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  const merged = new Map<string, unknown>(isPlainObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // A Map and not assignments: `__proto__` is a key like any other here.
  return Object.fromEntries(merged);
}
