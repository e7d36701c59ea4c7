import type { TimeSpan } from '../../../domain/lists/search.ts';
import {
  earliestInstant,
  instantFromMs,
  instantToMs,
  latestInstant,
  parseRfc3339,
} from '../../../domain/records/instant.ts';
import type { Query } from '../target.ts';
import { readSpan } from './bounds.ts';

/**
 * Parses an instant in a query. The `+` of an offset that was not percent-encoded arrives as a space. An
 * instant has no other place for a space, so it is read as `+`.
 */
export function readInstant(text: string): { ms: number; exact: boolean } | undefined {
  return parseRfc3339(text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
}

/** Reads the bounds of a time as a span of whole milliseconds, the precision of records. */
export function readTimes(query: Query, field: string): TimeSpan | undefined {
  const { from = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY } = readSpan(
    query,
    field,
    (text) => {
      const { ms = 0, exact = true } = readInstant(text) ?? {};
      return [exact ? ms : ms + 1, ms + 1];
    },
  );
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
