import type { AnyRostrumError } from '../../domain/errors.ts';
import { knownFields } from '../../domain/fields/rules.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection, Versioned } from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';

// Clients refuse results of more than about 25,000 tokens. A result has its content twice: as JSON, and as
// that JSON in a text block. Sizes here are the bytes of both.

/** 30 kB, less an error, a cursor or the names of omitted fields, and what the protocol adds. */
export const maxResult = 27_500;
/** 10 kB of JSON. */
const maxSlice = 20_000;

export type Result = Record<string, unknown>;

export function size(value: unknown): number {
  const json = JSON.stringify(value);
  return utf8Bytes(json) + utf8Bytes(JSON.stringify(json));
}

/** Returns the items that fit, without those for which no room is left. */
function fitting<T>(items: readonly T[], room: number): readonly T[] {
  let left = room;
  return items.filter((item) => {
    const fits = size(item) <= left;
    if (fits) left -= size(item);
    return fits;
  });
}

/** Returns a start of the text that fits. */
function startOf(text: string, room: number): string {
  let start = text.slice(0, room / 2);
  for (let now = size(start); now > room; now = size(start)) {
    start = start.slice(0, (start.length * room) / now);
  }
  return start.isWellFormed() ? start : start.slice(0, -1); // Not half a surrogate pair.
}

/**
 * Returns a record with its version. `slice` says which part of a long body it has, and `omitted` names the
 * custom fields that are too large.
 *
 * @param from the first code point of that part
 * @param length its code points, at most
 */
export function recordResult(
  collection: Collection,
  { record, version }: Versioned<object>,
  { from = 0, length = maxSlice } = {},
): Result {
  const { body, ...fields } = record as JsonObject;
  const isKnown = ([name]: [string, unknown]) => knownFields[collection].includes(name);
  const shown: Result = Object.fromEntries(Object.entries(fields).filter(isKnown));
  const result: Result = { version, [collection.slice(0, -1)]: shown };
  if (typeof body === 'string') {
    const points = [...body];
    const slice = startOf(points.slice(from, from + length).join(''), maxSlice);
    const end = from + [...slice].length;
    const next = end < points.length ? end : null;
    shown.body = slice;
    if (from > 0 || next !== null) result.slice = { from, next, length: points.length };
  }
  const custom = Object.entries(fields).filter((field) => !isKnown(field));
  const kept = new Set(fitting(custom, maxResult - size(result)));
  Object.assign(shown, Object.fromEntries(kept));
  const omitted = custom.filter((field) => !kept.has(field)).map(([name]) => name);
  return omitted.length === 0 ? result : { ...result, omitted: fitting(omitted, 1000) };
}

export function errorResult({ code, message, details }: AnyRostrumError): Result {
  const issues = 'issues' in details && { issues: fitting(details.issues, maxSlice) };
  return { error: { code, message: startOf(message, 2000), ...issues } };
}
