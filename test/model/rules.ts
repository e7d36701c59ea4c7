// The contract's rules of records once more, said in the plainest way and without a look at
// src/domain: what both get wrong in the same way is what no model finds.

import type { Json, JsonObject } from '../../src/index.ts';
import type { Resource } from './calls.ts';

const codePointsOf = (text: string) => Array.from(text).length;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (text: string) => !/\0/.test(text) && !/\p{Surrogate}/u.test(text);

export const emailKeyOf = (email: string) => email.normalize('NFC').toLowerCase().normalize('NFC');

/** The fields of a record that are stored, or what is wrong as `pointer code`. */
export function judge(resource: Resource, input: JsonObject, id?: string) {
  const { id: sentId, createdAt: _, updatedAt: __, ...given } = input;
  const issues = judgeJson(given);
  if (id !== undefined && sentId !== undefined && sentId !== id) issues.push('/id mismatch');
  const fields: Record<string, Json> = { ...given };

  /** A field that is required when it has no fallback. Its first issue is the only one. */
  function field(name: string, fallback: Json | undefined, wrong: (text: string) => unknown) {
    const value = given[name] ?? null;
    if (value === null && fallback !== undefined) fields[name] = fallback;
    else if (!issues.some((issue) => issue.startsWith(`/${name} `))) {
      const code = value === null ? 'required' : typeof value === 'string' ? wrong(value) : 'type';
      if (code) issues.push(`/${name} ${code}`);
    }
  }

  const length = (text: string, least: number, most: number) =>
    codePointsOf(text) < least ? 'too-short' : codePointsOf(text) > most && 'too-long';
  function trimmed(name: string, most: number) {
    field(name, undefined, (text) => length(text.trim(), 1, most));
    if (typeof fields[name] === 'string') fields[name] = fields[name].trim();
  }

  if (resource === 'users') {
    trimmed('name', 200);
    field('email', null, (email) => {
      if (Buffer.byteLength(email) > 254) return 'too-long';
      return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(email) ? undefined : 'invalid';
    });
  } else {
    trimmed('title', 300);
    field('body', '', (body) => length(body, 0, 100_000));
    field('authorId', null, () => undefined);
  }
  return { fields: fields as JsonObject, issues };
}

/** What is wrong with a value as I-JSON within the limits, whatever its fields mean. */
export function judgeJson(value: Json, pointer = '', depth = 1): string[] {
  if (typeof value === 'string') return isText(value) ? [] : [`${pointer} invalid`];
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? [`${pointer} number-range`]
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (depth > 16) return [`${pointer} too-deep`];
  return (Object.entries(value) as [string, Json][]).flatMap(([key, member]) => {
    const at = `${pointer}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    if (!Array.isArray(value) && codePointsOf(key) > 64) return [`${pointer} key`];
    const isKey = key !== '' && key !== '__proto__' && isText(key);
    const issues = judgeJson(member, at, depth + 1);
    return isKey || Array.isArray(value) ? issues : [`${at} key`, ...issues];
  });
}

/** RFC 7396, section 2, word for word. */
export function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const from = isObject(target) ? target : {};
  const result: Record<string, Json> = Object.assign(Object.create(null), from);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return { ...result };
}
