import type { IncomingMessage } from 'node:http';
import { isPlainUrl } from '../../domain/access/hosts.ts';

/** The target of a request (RFC 9112, section 3.2), parsed. */
export interface Target {
  /**
   * The path with each segment percent-encoded in one way, so that equal paths are equal strings.
   * A `%2F` stays inside its segment (RFC 3986, section 2.4).
   */
  readonly path: string;
  /** False for a malformed path, whose `path` is as it was sent, or a malformed authority. */
  readonly isValid: boolean;
  /** The query as it was sent, without its question mark. */
  readonly query: string;
  /** Path and query. */
  readonly url: string;
  /** The host and port of a target in absolute form. */
  readonly authority: string | undefined;
}

const absoluteForm = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)/i;

/**
 * A name, an IPv4 address, or an IPv6 address in brackets, with or without a port: what RFC 3986, section 3.2.2, allows, except
 * for percent-encoding and punctuation.
 */
export const hostForm = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** The characters that `encodeURIComponent` leaves alone, and the slash. */
const alreadyNormal = /^\/[\w\-.!~*'()/]*$/;

/** Parses a target in origin form or absolute form (`GET http://host/path`; RFC 9112, section 3.2.2). */
export function parseTarget(target: string): Target {
  const [front = '', scheme = 'http', authority] = target.startsWith('/')
    ? []
    : (absoluteForm.exec(target) ?? []);
  const mark = target.indexOf('?', front.length);
  const end = mark < 0 ? target.length : mark;
  const sent = target.slice(front.length, end) || '/';
  const normal = alreadyNormal.test(sent) || sent === '*' ? sent : normalize(sent);
  const path = normal ?? sent;
  const isHttp = authority === undefined || (/^https?$/i.test(scheme) && hostForm.test(authority));
  return {
    path,
    isValid: normal !== undefined && isHttp,
    query: target.slice(end + 1),
    url: path + target.slice(end),
    authority,
  };
}

function normalize(path: string): string | undefined {
  const segments = path.split('/').map(decodePercent);
  if (!path.startsWith('/') || segments.includes(undefined)) return undefined;
  return segments.map((segment) => encodeURIComponent(segment ?? '')).join('/');
}

/** Visible ASCII except `#`, which is more than RFC 3986 allows. */
const sendable = /^[!"$-~]*$/;

/** Decodes percent-encoded UTF-8; returns undefined if it is malformed. */
function decodePercent(text: string): string | undefined {
  try {
    return sendable.test(text) ? decodeURIComponent(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The parameters of a query by name, each with its values in the order they were sent. */
export type Query = ReadonlyMap<string, readonly string[]>;

/**
 * Parses a query as `application/x-www-form-urlencoded`, where `+` is a space.
 *
 * Returns undefined if it is malformed: bad percent-encoding, bytes that are not UTF-8, or characters that
 * have to be encoded.
 */
export function parseQuery(text: string): Query | undefined {
  if (decodePercent(text) === undefined) return undefined;
  const query = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

/** Returns the rest of a path below another one, or undefined for a path outside it. */
export function pathBelow(front: string, path: string): string | undefined {
  if (!path.startsWith(front)) return undefined;
  const rest = path.slice(front.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
}

/** Returns the mount path that koa-mount, Connect or Express removed from the target. */
export function mountPath(url: string, originalUrl: string): string {
  const { path } = parseTarget(url);
  const { path: whole } = parseTarget(originalUrl);
  const rest = path === '/' && !whole.endsWith('/') ? '' : path;
  const front = whole.endsWith(rest) ? whole.slice(0, whole.length - rest.length) : '';
  return parseTarget(front).isValid ? front : '';
}

/** Returns the target with the mount path that Express removed and put in `baseUrl`. */
export function restoreBaseUrl(request: { url?: string | undefined; baseUrl?: string }): string {
  const { url = '', baseUrl = '' } = request;
  return baseUrl === '' ? url : baseUrl + url.replace(/^\/(?=\?|$)/, '');
}

/**
 * Returns the prefix of the API in the form of {@link Target.path}; empty for `/`.
 *
 * @throws TypeError for a prefix that is not a path, or ends in a slash
 */
export function normalizePrefix(prefix = '/api/v1'): string {
  if (prefix === '' || prefix === '/') return '';
  const { path, isValid } = parseTarget(prefix);
  if (!isValid || !prefix.startsWith('/') || /\/(?:\/|$)|\?/.test(prefix)) {
    const form = 'a path such as "/api/v1", without a slash at its end';
    throw new TypeError(`The prefix must be ${form}; it is "${prefix}".`);
  }
  return path;
}

/** Escapes a path as a pattern of the router that matches this path alone. */
export function escapePath(path: string): string {
  return path.replace(/[(){}[\]*+?!:\\]/g, '\\$&');
}

/**
 * Returns the public URL without a trailing slash, or undefined if none is set.
 *
 * @throws TypeError for a value that is not a plain http or https URL
 */
export function normalizePublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isPlainUrl(text)) {
    throw new TypeError(
      `The public URL must be like https://example.com/backend; it is "${text}".`,
    );
  }
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** True if a header is given more than once: Node drops the repetitions of some in `headers`. */
export function isRepeated({ rawHeaders = [] }: IncomingMessage, name: string): boolean {
  let count = 0;
  // The names alternate with their values.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
