import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import type { Store } from '../../src/index.ts';

/** A store of its own for each call, which whoever opens it closes. */
export type OpenStore = () => Promise<Store>;

export type StoreName = 'memory' | 'SQLite' | 'MongoDB';

/** Describes the same for every store. */
export async function describeOnStores(
  title: string,
  body: (open: OpenStore, name: StoreName) => void,
): Promise<void> {
  describe(`${title} (memory)`, () => body(async () => createMemoryStore(), 'memory'));
}
