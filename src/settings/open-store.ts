import type { Logger } from '../ports/logger.ts';
import type { Store, StoreOptions } from '../ports/store.ts';
import { parseStoreUrl } from './store-url.ts';

/**
 * Opens the store that a URL names. Only that store's adapter is loaded, so that the driver of
 * another need not be installed.
 *
 * @throws StoreUrlError, and what the store says when it cannot open
 */
export async function openStore(
  url: string,
  logger: Logger,
  options: StoreOptions = {},
): Promise<Store> {
  const store = parseStoreUrl(url);
  switch (store.kind) {
    case 'memory': {
      const { createMemoryStore } = await import('../adapters/memory/index.ts');
      return createMemoryStore(options);
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('../adapters/sqlite/index.ts');
      return openSqliteStore({ ...options, path: store.path, logger });
    }
    case 'mongodb': {
      const { openMongodbStore } = await import('../adapters/mongodb/index.ts');
      return openMongodbStore({ ...options, url: store.url, logger });
    }
  }
}
