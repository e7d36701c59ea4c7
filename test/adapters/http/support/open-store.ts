import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Store } from '../../../../src/index.ts';
import { openTemporarySqlite } from '../../../support/temporary-sqlite.ts';

/** The store under the tests that bring none: HTTP_STORE=sqlite takes another one. */
export function openStore(): Store {
  return process.env.HTTP_STORE === 'sqlite' ? openTemporarySqlite() : createMemoryStore();
}
