import { isPlainUrl } from '../../../domain/addresses.ts';
import type { Target } from '../exchange.ts';
import { isHost } from '../headers/grammar.ts';

const absoluteForm = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)/i;

/** Understands the absolute form, too (`GET http://host/path`; RFC 9112, section 3.2.2). */
export function parseTarget(target: string): Target {
  const [front = '', scheme = 'http', authority] = target.startsWith('/')
    ? []
    : (absoluteForm.exec(target) ?? []);
  const mark = target.indexOf('?', front.length);
  const path = mark < 0 ? target.slice(front.length) : target.slice(front.length, mark);
  const normal = normalize(path === '' ? '/' : path);
  const isNamed = authority === undefined || (/^https?$/i.test(scheme) && isAuthority(authority));
  return {
    path: normal.path,
    isValid: normal.isValid && isNamed,
    query: mark < 0 ? '' : target.slice(mark + 1),
    url: mark < 0 ? normal.path : normal.path + target.slice(mark),
    authority: isNamed ? authority : undefined,
  };
}

/** A URL of HTTP names a host (RFC 9110, section 4.2.1). */
function isAuthority(text: string): boolean {
  return isHost(text) && !/^(?::|$)/.test(text);
}

/** The characters that `encodeURIComponent` leaves as they are, and the slash. */
const alreadyNormal = /^\/[\w\-.!~*'()/]*$/;

function normalize(path: string): Pick<Target, 'path' | 'isValid'> {
  if (alreadyNormal.test(path)) return { path, isValid: true };
  let isValid = path.startsWith('/');
  const segments = path.split('/').map((segment) => {
    const text = decodePercent(segment);
    if (text !== undefined) return encodeURIComponent(text);
    isValid = false;
    return segment;
  });
  return { path: segments.join('/'), isValid };
}

/** What of a path lies below another one; undefined for a path that does not. */
export function below(front: string, path: string): string | undefined {
  if (!path.startsWith(front)) return undefined;
  const rest = path.slice(front.length);
  return rest === '' || rest.startsWith('/') ? rest : undefined;
}

/**
 * What stands in front of the path that an app sees: a mount (of Koa, Connect or Express) took it
 * off, and left the whole in the request's `originalUrl`.
 */
export function mountPath(url: string, originalUrl: string): string {
  if (url === originalUrl) return '';
  const { path } = parseTarget(url);
  const { path: whole } = parseTarget(originalUrl);
  const rest = path === '/' && !whole.endsWith('/') ? '' : path;
  const front = whole.endsWith(rest) ? whole.slice(0, whole.length - rest.length) : '';
  return parseTarget(front).isValid ? front : '';
}

/**
 * A path that was set in code, for {@link below}.
 *
 * @throws TypeError for what no path begins with
 */
export function prefixPath(prefix: string): string {
  if (prefix === '' || prefix === '/') return '';
  const { path, isValid } = parseTarget(prefix);
  if (!isValid || !prefix.startsWith('/') || /\/(?:\/|$)|\?/.test(prefix)) {
    throw new TypeError(
      `The prefix must be a path such as "/api/v1", without a slash at its end; it is "${prefix}".`,
    );
  }
  return path;
}

/**
 * The URL under which clients see the server, without a slash at its end; undefined where none is set.
 *
 * @throws TypeError for what is no such URL
 */
export function publicBase(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isPlainUrl(text)) {
    throw new TypeError(
      `The public URL must be like https://example.com/backend; it is "${text}".`,
    );
  }
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
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
