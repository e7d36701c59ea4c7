import { backupSqlite, restoreSqlite } from '../adapters/sqlite/index.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { explainOpening, type StoreSetting, storeFailure, storeUrlOf } from './failure.ts';
import { print } from './output.ts';
import { runLong } from './run-long.ts';
import { writeFile } from './transfer/part-file.ts';

/** `rostrum backup`: copies the file of an SQLite store while servers use it. */
export async function backupCommand(file: string, named: StoreSetting): Promise<void> {
  await withPages(named, {
    purpose: 'back up; rostrum copy takes any store',
    next: 'run the same command again to start over',
    work: (path, pages) => writeFile(file, (to) => backupSqlite({ path, to, ...pages })),
  });
  print(`Backed up ${redactStoreUrl(named.url)} to ${file}`);
}

/** `rostrum restore`: replaces everything in an SQLite store with a backup. */
export async function restoreCommand(from: string, named: StoreSetting): Promise<void> {
  const isMoved = await withPages(named, {
    purpose: 'restore',
    next: 'run the same command again; until then the store is as it was',
    work: (path, pages) => restoreSqlite({ path, from, ...pages }),
  });
  print(`Restored ${redactStoreUrl(named.url)} from ${from}`);
  if (isMoved) {
    print(
      'The old data file could not be opened, and was renamed to end in ".damaged". Restart the servers that had it open.',
    );
  }
}

interface PagesTask<T> {
  /** What the file is needed for. */
  readonly purpose: string;
  /** What to do after an interruption. */
  readonly next: string;
  work(path: string, pages: { onProgress(done: number, total: number): void }): Promise<T>;
}

/** Copies the pages of a data file, with progress, until a signal. @throws Failure for a store without a file */
async function withPages<T>(
  named: StoreSetting,
  { purpose, next, work }: PagesTask<T>,
): Promise<T> {
  const store = storeUrlOf(named);
  if (store.kind !== 'sqlite') {
    throw storeFailure(named, `only an SQLite store has a file to ${purpose}.`);
  }
  try {
    return await runLong(
      ({ progress, signal }) => {
        const onProgress = (done: number, total: number) => {
          signal.throwIfAborted();
          progress('pages', done, total);
        };
        return work(store.path, { onProgress });
      },
      () => next,
    );
  } catch (error) {
    throw explainOpening(error, named);
  }
}
