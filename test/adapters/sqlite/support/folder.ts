import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore, type SqliteStoreOptions } from '../../../../src/adapters/sqlite/index.ts';
import type { Store } from '../../../../src/ports/store.ts';

/** A folder for data files, for the tests of one `describe`; what they leave open is closed. */
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

  /** The path of a file that is not there yet. */
  file(): string {
    return join(this.path, `${++this.#files}.db`);
  }

  open(path = this.file(), options: Omit<SqliteStoreOptions, 'path'> = {}): Store {
    const store = openSqliteStore({ path, ...options });
    this.#stores.push(store);
    return store;
  }
}

/** Looks into a data file from outside, as the sqlite3 shell would. */
export function look<T>(path: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** The one value that a query returns. */
export function value(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
