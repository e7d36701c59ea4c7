import { type Instant, instantFromMs, parseRfc3339 } from '../../domain/instant.ts';

/** Reads a time of a file. @returns undefined for what is none */
export type ReadTime = (text: string) => Instant | undefined;

/** What databases and content management systems write: `2019-06-15 10:05:00`, with an offset or without. */
const written =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2}(?:\.\d+)?))?(?: ?([Zz]|UTC|[+-]\d{2}(?::?\d{2})?))?)?$/;

/**
 * Makes a reader of times.
 *
 * @param timeZone where the clock hung that a time without an offset was read from; without it, such a
 * time is none. An hour that the clock skipped counts as the one after it, and of an hour that came
 * twice it is the first.
 */
export async function createReadTime(timeZone?: string): Promise<ReadTime> {
  const local = timeZone === undefined ? () => undefined : await createLocal(timeZone);
  return (text) => {
    const [, day, time = '00:00', second = '00', offset] = written.exec(text) ?? [];
    if (day === undefined) return undefined;
    const clock = `${day}T${time}:${second}`;
    const ms =
      offset === undefined
        ? parseRfc3339(`${clock}Z`) && local(clock)
        : parseRfc3339(`${clock}${fullOffset(offset)}`)?.ms;
    return ms === undefined ? undefined : instantFromMs(ms);
  };
}

/** What a record is told whose time cannot be read. */
export function wrongTime(timeZone: string | undefined): string {
  const form = 'A time must be like 2026-11-21T09:30:00Z';
  return timeZone === undefined
    ? `${form}; one without an offset needs --time-zone.`
    : `${form} or 2026-11-21 09:30:00.`;
}

async function createLocal(timeZone: string): Promise<(clock: string) => number> {
  // temporal-polyfill is an optional peer, until every Node has Temporal.
  const { Temporal } = await import('temporal-polyfill');
  return (clock) => Temporal.PlainDateTime.from(clock).toZonedDateTime(timeZone).epochMilliseconds;
}

/** PostgreSQL writes `+00`, and others write `+0000`. */
function fullOffset(offset: string): string {
  if (offset === 'UTC' || offset.length === 1) return 'Z';
  return `${offset.slice(0, 3)}:${offset.length === 3 ? '00' : offset.slice(-2)}`;
}

/** True for a name such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}
