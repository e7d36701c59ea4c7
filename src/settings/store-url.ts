import { homedir } from 'node:os';

/** A store's URL, taken apart. */
export type StoreUrl =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'mongodb'; readonly url: string };

/** A store URL that names no store. The message is one sentence and shows no password. */
export class StoreUrlError extends Error {
  override readonly name = 'StoreUrlError';
}

/**
 * Reads `memory:`, `sqlite:PATH`, `mongodb://…` and `mongodb+srv://…`. White space around the URL is
 * ignored: secrets often end in a line feed. A path that begins with `~/` is in the home directory.
 *
 * @throws StoreUrlError
 */
export function parseStoreUrl(text: string): StoreUrl {
  const url = text.trim();
  if (url === 'memory:') return { kind: 'memory' };
  if (/^mongodb(?:\+srv)?:\/\//.test(url)) return { kind: 'mongodb', url };
  if (!url.startsWith('sqlite:')) {
    throw new StoreUrlError('it has to be memory:, sqlite:PATH, mongodb://… or mongodb+srv://…');
  }
  const path = url.slice('sqlite:'.length);
  if (path === '') {
    throw new StoreUrlError('sqlite: needs the path of a file, as in sqlite:./data/rostrum.db');
  }
  if (path.startsWith('//')) {
    throw new StoreUrlError(
      'sqlite: is followed by a path without //, as in sqlite:./data/rostrum.db or sqlite:/tmp/x.db',
    );
  }
  if (/\p{Cc}|^(["']).*\1$/u.test(path)) {
    throw new StoreUrlError('its path has a control character or quotation marks: remove them');
  }
  return { kind: 'sqlite', path: path.replace(/^~(?=\/)/, () => homedir()) };
}

/**
 * A text that may be a store URL, without what may hold a password. Before the last `@` only the
 * scheme and the name are shown, and the query is not. Of a text that only resembles a URL nothing
 * before the `@` is shown. The path of an SQLite file is shown as it is.
 */
export function redactStoreUrl(given: string): string {
  const text = given.trim();
  if (/^sqlite:(?!\/\/)/i.test(text)) return text;
  const [, scheme, rest] =
    /^([a-z][a-z0-9+.-]*:\/\/|mongodb(?:\+srv)?:\/?)(.*)$/is.exec(text) ?? [];
  const at = text.lastIndexOf('@');
  const host = text.slice(at + 1).replace(/\?.*$/s, '?…');
  if (scheme === undefined || rest === undefined) return at < 0 ? text : `***@${host}`;
  if (at < 0) return `${scheme}${rest.replace(/\?.*$/s, '?…')}`;
  return `${scheme}${text.slice(scheme.length, at).split(':')[0]}:***@${host}`;
}
