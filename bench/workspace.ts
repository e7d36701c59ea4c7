import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../src/adapters/sqlite/index.ts';
import { createLogger } from '../src/adapters/system/logger.ts';
import type { Store } from '../src/index.ts';
import { openStore } from '../src/settings/open-store.ts';
import { type Mongod, startMongod } from './mongod.ts';

export type StoreKind = 'memory' | 'SQLite' | 'MongoDB';

/** A folder and a MongoDB server for the time of a run, and the URLs of stores on them. */
export class Workspace implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'rostrum-bench-'));
  #mongodb: Promise<Mongod | undefined> | undefined;
  #stores = 0;

  constructor() {
    process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** The URL of a store that is still empty; undefined when there is no server for it. */
  async newStore(kind: StoreKind): Promise<string | undefined> {
    const name = `bench-${++this.#stores}`;
    if (kind === 'memory') return 'memory:';
    if (kind === 'SQLite') return `sqlite:${join(this.folder, `${name}.db`)}`;
    this.#mongodb ??= startMongod();
    return (await this.#mongodb)?.url(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#mongodb)?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Opens a new SQLite store to be filled at once: with large commits that are not synced, as nobody
 * is answered before all is there. It is never measured.
 */
export function openToFill(path: string): Store {
  let database: DatabaseSync | undefined;
  const store = openSqliteStore({
    path,
    database: (file) => {
      database = new DatabaseSync(file); // The lock's comes first, the data file's last.
      return database;
    },
    writes: { groupWrites: 1000, groupText: 2 ** 25, queuedText: 2 ** 30 },
  });
  database?.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  return store;
}

/** Opens a store as the program does. */
export async function open(url: string): Promise<Store> {
  const store = await openStore(url, createLogger('silent'));
  await store.ready();
  return store;
}
