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
 * Reads `memory:`, `sqlite:PATH`, `mongodb://…` and `mongodb+srv://…`.
 *
 * @throws StoreUrlError
 */
export function parseStoreUrl(url: string): StoreUrl {
  if (url === 'memory:') return { kind: 'memory' };
  if (/^mongodb(?:\+srv)?:\/\//.test(url)) return { kind: 'mongodb', url };
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    if (path !== '' && !path.startsWith('//')) return { kind: 'sqlite', path };
    throw new StoreUrlError('sqlite: needs the path of a file, as in sqlite:./data/rostrum.db');
  }
  throw new StoreUrlError('it has to be memory:, sqlite:PATH, mongodb://… or mongodb+srv://…');
}

/** A store URL as it may be shown: without its password. */
export function redactStoreUrl(url: string): string {
  return url.replace(/^([a-z+]+:\/\/[^:@/]*):[^/]*@/, '$1:***@');
}
