/**
 * The path and the query of a request's target, as they were sent.
 *
 * The absolute form (`GET http://host/path`) is understood too, as RFC 9112, section 3.2.2, wants.
 */
export interface Target {
  readonly path: string;
  readonly query: string;
}

export function splitTarget(target: string): Target {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark < 0 ? '' : local.slice(mark + 1) };
}

/** What of a target a log may have: never the query, and no more of the path than helps. */
export function loggedPath(target: string): string {
  return splitTarget(target).path.slice(0, 256);
}

/**
 * The segments of a path: split first and decoded then (RFC 3986, section 2.4), so that a `%2F`
 * stays inside its segment.
 *
 * @returns for each segment what it says, undefined where it cannot be decoded
 */
export function pathSegments(path: string): readonly (string | undefined)[] {
  return path.startsWith('/') ? path.slice(1).split('/').map(decodePercent) : [undefined];
}

/** Segments as a path again, each with only what has to be encoded encoded. */
export function joinSegments(segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/**
 * What of a path lies below a prefix.
 *
 * @returns undefined when the path is not below it
 */
export function below(
  prefix: readonly string[],
  segments: readonly (string | undefined)[],
): readonly (string | undefined)[] | undefined {
  return prefix.every((part, i) => part === segments[i])
    ? segments.slice(prefix.length)
    : undefined;
}

/** True when each segment could be decoded. */
export function isDecoded(
  segments: readonly (string | undefined)[],
): segments is readonly string[] {
  return !segments.includes(undefined);
}

/**
 * Segments of a prefix that was set in code.
 *
 * @throws TypeError for what no path begins with
 */
export function prefixSegments(prefix: string): readonly string[] {
  if (prefix === '' || prefix === '/') return [];
  const segments = pathSegments(prefix);
  if (!isDecoded(segments) || segments.includes('') || prefix.includes('?')) {
    throw new TypeError(
      `The prefix must be a path such as "/api/v1", without a slash at its end; it is "${prefix}".`,
    );
  }
  return segments;
}

/** Only what may stand in a target at all: visible ASCII, and no fragment. */
const sendable = /^[!"$-~]*$/;

/** Percent-decoded as UTF-8; undefined when it is not well-formed. */
export function decodePercent(text: string): string | undefined {
  try {
    return sendable.test(text) ? decodeURIComponent(text) : undefined;
  } catch {
    return undefined;
  }
}
