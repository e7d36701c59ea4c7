import { stat } from 'node:fs/promises';
import { restoreSqlite } from '../adapters/sqlite/index.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { dataFileOf, withPages } from './backup.ts';
import { explainOpening, type StoreSetting } from './failure.ts';
import { print } from './output.ts';
import { runLong } from './run-long.ts';

/** `rostrum restore`: puts a backup in the place of what an SQLite store holds. */
export async function restoreCommand(from: string, named: StoreSetting): Promise<void> {
  let isMoved: boolean;
  try {
    const path = dataFileOf(named, 'restore');
    isMoved = await runLong(
      (run) => withPages(run, (pages) => restoreSqlite({ path, from, ...pages })),
      () => 'run the same command again; until then the store is as it was',
    );
  } catch (error) {
    throw explainOpening(error, named);
  }
  const { size } = await stat(from);
  print(`Restored ${redactStoreUrl(named.url)} from ${from}: ${size} bytes`);
  if (isMoved) {
    print(
      'The old data file could not be opened, and was renamed to end in ".damaged". Restart the servers that had it open.',
    );
  }
}
