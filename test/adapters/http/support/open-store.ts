import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Store } from '../../../../src/index.ts';
import { openTemporarySqlite } from '../../../support/temporary-sqlite.ts';

/** Opens the default store of the tests: memory, or SQLite with HTTP_STORE=sqlite. */
export function openStore(): Store {
  return process.env.HTTP_STORE === 'sqlite' ? openTemporarySqlite() : createMemoryStore();
}
