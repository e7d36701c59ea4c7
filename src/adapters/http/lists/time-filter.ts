import {
  earliestInstant,
  instantFromMs,
  instantToMs,
  latestInstant,
  parseRfc3339,
} from '../../../domain/instant.ts';
import type { TimeSpan } from '../../../domain/search.ts';

/** How a bound of a time filter compares. */
export const timeBounds = ['gte', 'gt', 'lte', 'lt'] as const;
export type TimeBound = (typeof timeBounds)[number];

/**
 * Reads an instant out of a query. The `+` of an offset that was not percent-encoded arrives as a
 * space, and there is no other place in an instant where a space could stand: it is taken for `+`.
 */
export function readInstant(text: string): { ms: number; exact: boolean } | undefined {
  return parseRfc3339(text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
}

/**
 * Bounds as a span of whole milliseconds, which is what records have. Of several bounds on one
 * side the narrower one counts.
 *
 * @returns undefined without bounds
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
    // The first millisecond that is not before the instant, and the first one behind it.
    const at = instant.exact ? instant.ms : instant.ms + 1;
    const behind = instant.ms + 1;
    if (name === 'gte') from = Math.max(from, at);
    else if (name === 'gt') from = Math.max(from, behind);
    else if (name === 'lte') before = Math.min(before, behind);
    else before = Math.min(before, at);
  }
  return bounded ? span(from, before) : undefined;
}

/** An end outside the years that an instant can say is open, or leaves nothing. */
function span(from: number, before: number): TimeSpan {
  const [first, last] = [instantToMs(earliestInstant), instantToMs(latestInstant)];
  if (from > last || before <= first) return { from: latestInstant, before: earliestInstant };
  return {
    ...(from > first && { from: instantFromMs(from) }),
    ...(before <= last && { before: instantFromMs(before) }),
  };
}
