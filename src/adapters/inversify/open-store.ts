import type { Logger } from '../../ports/logger.ts';
import type { Store, StoreOptions } from '../../ports/store.ts';
import { parseStoreUrl } from '../../settings/store-url.ts';

/**
 * Opens the store that a URL names. Loads only that store's adapter, so the drivers of the others need
 * not be installed.
 *
 * @throws StoreUrlError for a URL that names no store, and the errors of the store itself
 */
export async function openStore(
  url: string,
  logger: Logger,
  options: StoreOptions = {},
): Promise<Store> {
  const store = parseStoreUrl(url);
  switch (store.kind) {
    case 'memory': {
      const { createMemoryStore } = await import('../memory/index.ts');
      return createMemoryStore(options);
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('../sqlite/index.ts');
      return openSqliteStore({ ...options, path: store.path, logger });
    }
    case 'mongodb': {
      const { openMongodbStore } = await import('../mongodb/index.ts');
      return openMongodbStore({ ...options, url: store.url, logger });
    }
  }
}
