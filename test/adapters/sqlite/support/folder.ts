import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeLimits } from '../../../../src/adapters/sqlite/connection/write-queue.ts';
import type { SqliteStoreOptions } from '../../../../src/adapters/sqlite/index.ts';
import { openStore } from '../../../../src/adapters/sqlite/store.ts';
import type { EventLog, Store, Transfer } from '../../../../src/ports/index.ts';

/** A temporary folder for the data files of one `describe`. Closes stores that tests left open. */
export class Folder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'rostrum-sqlite-')));
  readonly #stores: Store[] = [];
  #files = 0;

  constructor() {
    after(async () => {
      await Promise.all(this.#stores.map((store) => store.close()));
      rmSync(this.path, { recursive: true, force: true });
    });
  }

  /** Returns the path of a new file. */
  file(): string {
    return join(this.path, `${++this.#files}.db`);
  }

  /**
   * @param options those of the store; `writes` replaces limits of its write queue
   * @param driver replaces the default driver, for example to inject faults; lists are then read without a
   * worker
   */
  open(
    path = this.file(),
    { writes, ...options }: OpenOptions = {},
    driver?: (file: string) => DatabaseSync,
  ): OpenStore {
    const store = openStore(
      { path, ...options },
      { driver, limits: { ...writeLimits, ...writes } },
    );
    this.#stores.push(store);
    return store as OpenStore;
  }
}

interface OpenOptions extends Omit<SqliteStoreOptions, 'path'> {
  readonly writes?: Partial<typeof writeLimits>;
}

type OpenStore = Store & { readonly transfer: Transfer; readonly events: EventLog };

/** Opens a data file directly, like the sqlite3 shell. */
export function look<T>(path: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Returns the single value of a query. */
export function value(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}

/** Throws if SQLite finds a fault in a data file. */
export function expectSound(path: string): void {
  const faults = look(path, (database) => [
    ...database.prepare('PRAGMA integrity_check').all(),
    ...database.prepare('PRAGMA foreign_key_check').all(),
  ]);
  if (JSON.stringify(faults) !== '[{"integrity_check":"ok"}]') {
    throw new Error(`The data file has faults: ${JSON.stringify(faults)}`);
  }
}
