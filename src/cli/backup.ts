import { createReadStream, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { backupSqlite, restoreSqlite } from '../adapters/sqlite/index.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { explainOpening, Failure, type StoreSetting, storeFailure, storeUrlOf } from './failure.ts';
import { print } from './output.ts';
import { runLong } from './run-long.ts';
import { writeFile } from './transfer/part-file.ts';

/** `rostrum backup`: copies the file of an SQLite store while servers use it. */
export async function backupCommand(file: string, named: StoreSetting): Promise<void> {
  const purpose = 'back up; rostrum copy takes any store';
  const next = 'run the same command again to start over';
  await copyPages(named, purpose, next, (options) => {
    return writeFile(file, (to) => backupSqlite({ ...options, to }));
  });
  const store = redactStoreUrl(named.url);
  print(`Backed up ${store} to ${file}, and checked all its tables and indexes`);
}

/** The first bytes of every SQLite file. */
const sqliteHead = 'SQLite format 3\0';

/** `rostrum restore`: replaces everything in an SQLite store with a backup. */
export async function restoreCommand(from: string, named: StoreSetting): Promise<void> {
  const end = sqliteHead.length - 1;
  if (!statSync(from).isFile() || (await text(createReadStream(from, { end }))) !== sqliteHead) {
    throw new Failure(
      `${from} is not a backup, which is an SQLite file. rostrum import --keep-ids reads exports.`,
    );
  }
  const next = 'run the same command again; until then the store is as it was';
  const isMoved = await copyPages(named, 'restore', next, (options) => {
    return restoreSqlite({ ...options, from });
  });
  print(`Restored ${redactStoreUrl(named.url)} from ${from}`);
  if (isMoved) {
    print(
      'The old data file could not be opened, and was renamed to end in ".damaged". Restart the servers that had it open.',
    );
  }
}

interface PagesOptions {
  readonly path: string;
  onProgress(done: number, total: number): void;
}

/**
 * Copies the pages of a data file, with progress, until a signal.
 *
 * @param purpose what the file is needed for
 * @param next what to do after an interruption
 * @throws Failure for a store without a file
 */
async function copyPages<T>(
  named: StoreSetting,
  purpose: string,
  next: string,
  copy: (options: PagesOptions) => Promise<T>,
): Promise<T> {
  const store = storeUrlOf(named);
  if (store.kind !== 'sqlite') {
    throw storeFailure(named, `only an SQLite store has a file to ${purpose}.`);
  }
  const copying = runLong(
    ({ progress, signal }) => {
      const onProgress = (done: number, total: number) => {
        signal.throwIfAborted();
        progress('pages', done, total);
      };
      return copy({ path: store.path, onProgress });
    },
    () => next,
  );
  return copying.catch((error: unknown) => Promise.reject(explainOpening(error, named)));
}
