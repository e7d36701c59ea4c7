import { instantFromMs, isInstant, latestInstant, parseRfc3339 } from '../../domain/instant.ts';
import type { TransformContext } from '../../import.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';

/** ISO 8601 and SQL, with or without an offset: `2019-06-15 10:05:00+02`, `2019-06-15T10:05Z`. */
const written =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:[.,]\d+)?))?(?: ?(Z|UTC?|GMT|[+-]\d{2}(?::?\d{2})?))?)?$/i;

/** A date in email (RFC 5322, section 3.3), such as `Fri, 30 Mar 2012`. */
const mailDate = /^(?:\w{3}, ?)?(\d{1,2}) (\w{3}) (\d{4})(?= )/;
const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** The least seconds and milliseconds since 1970. Smaller numbers can be years or days. */
const [leastSeconds, leastMs] = [1e8, 1e11];

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
  return (value, { timeZone } = {}) => {
    if (isInstant(value)) return value; // Parsing it again would cost 4 µs.
    const text = value instanceof Date ? (value.toJSON() ?? '') : String(value).trim();
    const ms = fromNumber(text) ?? fromText(text, timeZone, zoned);
    if (ms !== undefined && ms <= Date.parse(latestInstant)) return instantFromMs(ms);
    throw new Error(
      `${quoted(value)} is not a time like 2026-11-21T09:30:00Z, 2026-11-21 09:30:00, ` +
        'Sat, 21 Nov 2026 09:30:00 +0000, or seconds or milliseconds since 1970.',
    );
  };
}

function fromNumber(text: string): number | undefined {
  const size = /^-?\d{9,14}(?:\.\d+)?$/.test(text) ? Math.abs(Number(text)) : 0;
  if (size >= leastMs) return Number(text);
  return size >= leastSeconds ? Number(text) * 1000 : undefined;
}

function fromText(
  text: string,
  timeZone: string | undefined,
  zoned: (clock: string, timeZone: string) => number,
): number | undefined {
  const iso = text.replace(mailDate, (_, day: string, month: string, year: string) => {
    const number = months.indexOf(month) / 3 + 1;
    return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
  });
  const [, date, time = '00:00', second = '00', offset] = written.exec(iso) ?? [];
  const clock = `${date}T${time}:${second.replace(',', '.')}`;
  const asUtc = parseRfc3339(`${clock}Z`)?.ms;
  if (asUtc === undefined) return undefined;
  // PostgreSQL writes +00, and email has +0000.
  const [, hours, minutes = '00'] = /^([+-]\d{2}):?(\d{2})?$/.exec(offset ?? '') ?? [];
  if (hours !== undefined) return parseRfc3339(`${clock}${hours}:${minutes}`)?.ms;
  if (offset !== undefined) return asUtc;
  if (timeZone !== undefined) return zoned(clock, timeZone);
  throw new Error(
    `${quoted(text)} has no time zone: in a transform, instant(value, { timeZone: 'UTC' }) sets one.`,
  );
}
