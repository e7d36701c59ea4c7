import { stat } from 'node:fs/promises';
import { backupSqlite } from '../adapters/sqlite/index.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { explainOpening, type StoreSetting, storeFailure, storeUrlOf } from './failure.ts';
import { print } from './output.ts';
import { type LongRun, runLong } from './run-long.ts';
import { refuseExisting, writeFile } from './transfer/part-file.ts';

/** `rostrum backup`: copies the file of an SQLite store, while a server may be using it. */
export async function backupCommand(file: string, named: StoreSetting): Promise<void> {
  refuseExisting(file);
  try {
    const path = dataFileOf(named, 'back up; rostrum copy takes any store');
    await runLong(
      (run) =>
        writeFile(file, (to) => withPages(run, (pages) => backupSqlite({ path, to, ...pages }))),
      () => 'run the same command again to start over',
    );
  } catch (error) {
    throw explainOpening(error, named);
  }
  const { size } = await stat(file);
  print(`Backed up ${redactStoreUrl(named.url)} to ${file}: ${size} bytes`);
}

/** @throws Failure for a store without a file */
export function dataFileOf(named: StoreSetting, purpose: string): string {
  const store = storeUrlOf(named);
  if (store.kind === 'sqlite') return store.path;
  throw storeFailure(named, `only an SQLite store has a file to ${purpose}.`);
}

/** Shows how many pages of a database are copied. A signal ends the copy. */
export async function withPages<T>(
  { progress, signal }: LongRun,
  copy: (pages: { onProgress(done: number, total: number): void }) => Promise<T>,
): Promise<T> {
  let [known, all] = [0, 0];
  const result = await copy({
    onProgress(done, total) {
      signal.throwIfAborted();
      if (all === 0) progress.begin('pages', total);
      all = total;
      progress.advance(done - known);
      known = done;
    },
  });
  // A file that fits into one step has no progress.
  if (all > 0) {
    progress.advance(all - known);
    progress.end();
  }
  return result;
}
