import {
  instantFromMs,
  isInstant,
  latestInstant,
  parseRfc3339,
} from '../../domain/records/instant.ts';
import type { TransformContext } from '../../import.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';

/**
 * ISO 8601 and SQL, extended (`2019-06-15 10:05:00+02`, `2019-06-15T10:05Z`) or basic (`20190615T100500Z`,
 * `20190615100500`).
 */
const written =
  /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[T ]?(\d\d)(:?)(\d\d)(?:\6(\d\d(?:[.,]\d+)?))?(?: ?(?:(Z|UTC?|GMT)|([+-]\d\d)(?::?(\d\d))?))?)?$/i;

/**
 * A date in email and feeds (RFC 5322, section 3.3, and the zones of RFC 822), or of JavaScript:
 * `Fri, 30 Mar 2012 11:18:03 +0000`, `Fri Mar 30 2012 11:18:03 GMT+0100 (CET)`.
 */
const mailDate =
  /^(?:[a-z]{3,9},? ?)?((?:[a-z]{3} )?(\d{1,2}) (?:[a-z]{3} )?\d{4}) \d\d:\d\d(?::\d\d)? ?(?:Z|UTC?|[ECMP][SD]T|(?:GMT|UTC)?[+-][01]\d[0-5]\d|GMT)(?: \([^()]*\))?$/i;

/**
 * Numbers are times only between 1990 and 2100, and with 9 or 10 digits (seconds) or 12 or 13
 * (milliseconds). Others can be years, days, or dates such as `20190615`.
 */
const [earliestMs, latestMs] = [Date.UTC(1990), Date.UTC(2100)];

function fromNumber(text: string): number | undefined {
  const [, digits = ''] = /^(\d{9,10}|\d{12,13})(?:\.\d+)?$/.exec(text) ?? [];
  const ms = Number(text) * (digits.length < 12 ? 1000 : 1);
  return digits !== '' && ms >= earliestMs && ms < latestMs ? ms : undefined;
}

/** Returns undefined for a day that does not exist, which `Date.parse` would count on into the next month. */
function fromMail(text: string): number | undefined {
  const [, date, day] = mailDate.exec(text) ?? [];
  return new Date(`${date} UTC`).getUTCDate() === Number(day) ? Date.parse(text) : undefined;
}

/** Creates the `instant` function of transforms. */
export async function createInstant(): Promise<TransformContext['instant']> {
  // temporal-polyfill is an optional peer.
  const library = await import('temporal-polyfill').catch(() => undefined);
  const zoned = (clock: string, timeZone: string): number => {
    if (library === undefined) {
      throw new Failure('instant() with a time zone needs a package: npm i temporal-polyfill');
    }
    const local = library.Temporal.PlainDateTime.from(clock);
    return local.toZonedDateTime(timeZone).epochMilliseconds;
  };
  const fromText = (text: string, timeZone: string | undefined): number | undefined => {
    const [
      ,
      year,
      ,
      month,
      day,
      hour = '00',
      ,
      minute = '00',
      second = '00',
      utc,
      hours,
      minutes = '00',
    ] = written.exec(text) ?? [];
    const clock = `${year}-${month}-${day}T${hour}:${minute}:${second.replace(',', '.')}`;
    const offset = hours === undefined ? utc && 'Z' : `${hours}:${minutes}`;
    const ms = parseRfc3339(`${clock}${offset ?? 'Z'}`)?.ms;
    if (ms === undefined || offset !== undefined) return ms;
    if (timeZone !== undefined) return zoned(clock, timeZone);
    throw new Error(
      `${quoted(text)} has no time zone: in a transform, instant(value, { timeZone: 'UTC' }) sets one.`,
    );
  };
  return (value, { timeZone } = {}) => {
    if (isInstant(value)) return value; // Parsing it again would cost 4 µs.
    const text = value instanceof Date ? (value.toJSON() ?? '') : String(value).trim();
    const ms =
      fromNumber(text) ?? (mailDate.test(text) ? fromMail(text) : fromText(text, timeZone));
    if (ms !== undefined && ms <= Date.parse(latestInstant)) return instantFromMs(ms);
    throw new Error(
      `${quoted(value)} is not a time like 2026-11-21T09:30:00Z, 2026-11-21 09:30:00, ` +
        'Sat, 21 Nov 2026 09:30:00 +0000, or seconds or milliseconds since 1970.',
    );
  };
}
