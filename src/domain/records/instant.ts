/**
 * A moment in UTC with milliseconds, in the one form that sorts as text:
 * `2026-11-21T09:30:00.000Z` (RFC 3339, section 5.6).
 */
export type Instant = string;

/** The first and the last moment that RFC 3339's four-digit years can express. */
export const earliestInstant: Instant = '0000-01-01T00:00:00.000Z';
export const latestInstant: Instant = '9999-12-31T23:59:59.999Z';

const earliestMs = Date.parse(earliestInstant);
const latestMs = Date.parse(latestInstant);

/** Converts milliseconds since 1970 to an instant, clamped to the years 0000 to 9999. */
export function instantFromMs(ms: number): Instant {
  return new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString();
}

/** Converts an instant to milliseconds since 1970. */
export function instantToMs(instant: Instant): number {
  return Date.parse(instant);
}

/** True for a text in the form of an {@link Instant}. */
export function isInstant(value: unknown): value is Instant {
  if (typeof value !== 'string') return false;
  const ms = Date.parse(value);
  return ms >= earliestMs && ms <= latestMs && new Date(ms).toISOString() === value;
}

/** Returns the instant `ms` milliseconds later. */
export function addMs(instant: Instant, ms: number): Instant {
  return instantFromMs(instantToMs(instant) + ms);
}

/** Returns the time of a change: now, but at least 1 ms after the last change, whatever the clock says. */
export function nextInstant(last: Instant, now: Instant): Instant {
  return now > last ? now : addMs(last, 1);
}

const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 date-time with any offset and any number of decimals.
 *
 * `ms` is the millisecond that the moment lies in (cut, not rounded); `exact` is false when there
 * were more decimals than that. A leap second counts as the first second of the next minute.
 *
 * @returns undefined if the text is not an RFC 3339 date-time
 */
export function parseRfc3339(text: string): { ms: number; exact: boolean } | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [, day = '', hour, minute, second, decimals = '', sign, offsetHour, offsetMinute] = match;
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) {
    return undefined; // 30 February
  }
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const [oh, om] = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)];
  if (h > 23 || m > 59 || s > 60 || oh > 23 || om > 59) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (oh * 60 + om) * 60_000;
  const ms =
    midnight + ((h * 60 + m) * 60 + s) * 1000 + Number(decimals.slice(0, 3).padEnd(3, '0'));
  return { ms: ms - offset, exact: !/[1-9]/.test(decimals.slice(3)) };
}
