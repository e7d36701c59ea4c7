import { compareKeys } from '../../../domain/lists/list.ts';
import type { TimeSpan } from '../../../domain/lists/search.ts';
import {
  earliestInstant,
  instantFromMs,
  instantToMs,
  latestInstant,
  parseRfc3339,
} from '../../../domain/records/instant.ts';
import type { Query } from '../target.ts';

/** The bounds of a range in a query, such as `createdAt[gte]`, and what they mean. */
export const bounds = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

/** The values at or after `from`, and before `before`. */
export interface Span<T> {
  from?: T;
  before?: T;
}

/**
 * Reads the bounds of a field, which are valid.
 *
 * @param valuesAt returns the first value at or after a bound, and the first value after it
 */
export function readSpan<T extends string | number>(
  query: Query,
  field: string,
  valuesAt: (text: string) => readonly [at: T, after: T],
): Span<T> {
  const span: Span<T> = {};
  for (const bound of Object.keys(bounds)) {
    const [text] = query.get(`${field}[${bound}]`) ?? [];
    if (text === undefined) continue;
    const [at, after] = valuesAt(text);
    if (bound === 'gte' || bound === 'gt') narrow(span, 'from', bound === 'gte' ? at : after);
    else narrow(span, 'before', bound === 'lt' ? at : after);
  }
  return span;
}

/** Moves an end of a span. Of several bounds on one side the narrower one counts. */
export function narrow<T extends string | number>(span: Span<T>, end: keyof Span<T>, value: T) {
  const present = span[end];
  const order = present === undefined ? 0 : compareKeys(value, present);
  if (present === undefined || (end === 'from' ? order > 0 : order < 0)) span[end] = value;
}

/**
 * Parses an instant in a query. The `+` of an offset that was not percent-encoded arrives as a space. An
 * instant has no other place for a space, so it is read as `+`.
 */
export function readInstant(text: string): { ms: number; exact: boolean } | undefined {
  return parseRfc3339(text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
}

/** Reads the bounds of a time as a span of whole milliseconds, the precision of records. */
export function readTimes(query: Query, field: string): TimeSpan | undefined {
  const span = readSpan(query, field, (text) => {
    const { ms = 0, exact = true } = readInstant(text) ?? {};
    return [exact ? ms : ms + 1, ms + 1];
  });
  const { from = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY } = span;
  if (from === Number.NEGATIVE_INFINITY && before === Number.POSITIVE_INFINITY) return undefined;
  // An end outside the years of an instant is open, or matches nothing.
  const [first, last] = [instantToMs(earliestInstant), instantToMs(latestInstant)];
  if (from > last || before <= first) return { from: latestInstant, before: earliestInstant };
  const isEnding = before <= last;
  return {
    // A span without ends would match drafts, which have no time.
    ...((from > first || !isEnding) && { from: instantFromMs(from) }),
    ...(isEnding && { before: instantFromMs(before) }),
  };
}
