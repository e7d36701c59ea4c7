// The contract's rules of records once more, said in the plainest way and without a look at
// src/domain: what both get wrong in the same way is what no model finds.

import type { Json, JsonObject } from '../../src/index.ts';
import type { Resource } from './calls.ts';

const codePointsOf = (text: string) => Array.from(text).length;
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (text: string) => !/\0/.test(text) && !/\p{Surrogate}/u.test(text);
const escaped = (key: string) => key.replace(/~/g, '~0').replace(/\//g, '~1');

export const emailKeyOf = (email: string) => email.normalize('NFC').toLowerCase().normalize('NFC');

/** The fields of a record that are stored, or what is wrong as `pointer code`. */
export function judge(resource: Resource, input: JsonObject, id?: string) {
  const { id: sentId, createdAt: _, updatedAt: __, ...given } = input;
  const issues = judgeJson(given);
  if (id !== undefined && sentId !== undefined && sentId !== id) issues.push('/id mismatch');
  const free = (name: string) => !issues.some((issue) => issue.startsWith(`/${name} `));
  const fields: Record<string, Json> = { ...given };
  const text = (name: string, most: number) => {
    const value = given[name] ?? null;
    if (typeof value === 'string') fields[name] = value.trim();
    if (!free(name)) return;
    if (value === null) issues.push(`/${name} required`);
    else if (typeof value !== 'string') issues.push(`/${name} type`);
    else if (codePointsOf(value.trim()) < 1) issues.push(`/${name} too-short`);
    else if (codePointsOf(value.trim()) > most) issues.push(`/${name} too-long`);
  };
  const optional = (name: string, fallback: Json, wrong: (value: string) => string | undefined) => {
    const value = given[name] ?? null;
    if (value === null) fields[name] = fallback;
    else if (typeof value !== 'string') {
      if (free(name)) issues.push(`/${name} type`);
    } else if (free(name) && wrong(value) !== undefined) issues.push(`/${name} ${wrong(value)}`);
  };
  if (resource === 'users') {
    text('name', 200);
    optional('email', null, (email) => {
      if (Buffer.byteLength(email) > 254) return 'too-long';
      return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(email) ? undefined : 'invalid';
    });
  } else {
    text('title', 300);
    optional('body', '', (body) => (codePointsOf(body) > 100_000 ? 'too-long' : undefined));
    optional('authorId', null, () => undefined);
  }
  return { fields: fields as JsonObject, issues };
}

/** What is wrong with a value as I-JSON within the limits, whatever its fields mean. */
export function judgeJson(given: JsonObject): string[] {
  const issues: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    judgeKey(key, `/${escaped(key)}`, issues);
    judgeValue(value, `/${escaped(key)}`, 1, issues);
  }
  return issues;
}

function judgeKey(key: string, pointer: string, issues: string[]): void {
  const length = codePointsOf(key);
  if (length < 1 || length > 64 || key === '__proto__' || !isText(key))
    issues.push(`${pointer} key`);
}

function judgeValue(value: Json, pointer: string, depth: number, issues: string[]): void {
  if (typeof value === 'string' && !isText(value)) issues.push(`${pointer} invalid`);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    issues.push(`${pointer} number-range`);
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth + 1 > 16) {
    issues.push(`${pointer} too-deep`);
    return;
  }
  for (const [key, member] of Object.entries(value) as [string, Json][]) {
    const at = `${pointer}/${escaped(key)}`;
    if (!Array.isArray(value)) judgeKey(key, at, issues);
    judgeValue(member, at, depth + 1, issues);
  }
}

/** RFC 7396, section 2, word for word. */
export function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json> = Object.assign(
    Object.create(null),
    isObject(target) ? target : {},
  );
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return { ...result };
}

export const tooDeep = (value: Json, depth = 1): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth > 16 || Object.values(value).some((part) => tooDeep(part as Json, depth + 1)));
