import {
  earliestInstant,
  instantFromMs,
  instantToMs,
  latestInstant,
  parseRfc3339,
} from '../../../domain/instant.ts';
import type { TimeSpan } from '../../../domain/search.ts';

/** The bounds of a time filter. */
export const timeBounds = ['gte', 'gt', 'lte', 'lt'] as const;
export type TimeBound = (typeof timeBounds)[number];

/**
 * Parses an instant in a query. The `+` of an offset that was not percent-encoded arrives as a space. An
 * instant has no other place for a space, so it is read as `+`.
 */
export function readInstant(text: string): { ms: number; exact: boolean } | undefined {
  return parseRfc3339(text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
}

/**
 * Converts bounds to a span of whole milliseconds, the precision of records. Of several bounds on one side the
 * narrower one counts. Returns undefined if there are no bounds.
 */
export function timeSpan(bound: (name: TimeBound) => string | undefined): TimeSpan | undefined {
  let from = Number.NEGATIVE_INFINITY;
  let before = Number.POSITIVE_INFINITY;
  let bounded = false;
  for (const name of timeBounds) {
    const text = bound(name);
    const instant = text === undefined ? undefined : readInstant(text);
    if (instant === undefined) continue;
    bounded = true;
    // The first millisecond not before the instant, and the first one after it.
    const at = instant.exact ? instant.ms : instant.ms + 1;
    const behind = instant.ms + 1;
    if (name === 'gte') from = Math.max(from, at);
    else if (name === 'gt') from = Math.max(from, behind);
    else if (name === 'lte') before = Math.min(before, behind);
    else before = Math.min(before, at);
  }
  return bounded ? span(from, before) : undefined;
}

/** An end outside the years of an instant is open, or matches nothing. */
function span(from: number, before: number): TimeSpan {
  const [first, last] = [instantToMs(earliestInstant), instantToMs(latestInstant)];
  if (from > last || before <= first) return { from: latestInstant, before: earliestInstant };
  return {
    ...(from > first && { from: instantFromMs(from) }),
    ...(before <= last && { before: instantFromMs(before) }),
  };
}
