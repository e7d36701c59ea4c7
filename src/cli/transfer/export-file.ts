import { open } from 'node:fs/promises';
import type { Store } from '../../ports/store.ts';
import type { Counts } from '../count.ts';
import type { LongRun } from '../run-long.ts';
import { writeFile } from './part-file.ts';
import { batches, storeSource } from './source.ts';

/**
 * Exports all records of a store as JSON Lines, users before posts and each by id.
 *
 * @param write called with some lines at a time
 */
export async function exportRecords(
  store: Store,
  write: (text: string) => Promise<unknown>,
  { progress, signal }: LongRun,
): Promise<Counts> {
  const source = storeSource(store, signal);
  const [all, written] = [await source.count(), { users: 0, posts: 0 }];
  for (const list of ['users', 'posts'] as const) {
    progress.begin(list, all[list]);
    for await (const batch of batches(source[list](), ({ json }) => json.length)) {
      await write(batch.map(({ json }) => `{"${list.slice(0, -1)}":${json}}\n`).join(''));
      written[list] += batch.length;
      progress.advance(batch.length);
    }
    progress.end();
  }
  return written;
}

/** Exports into `FILE.part`, which becomes `FILE`. @throws Failure when the file exists */
export function exportFile(store: Store, path: string, run: LongRun): Promise<Counts> {
  return writeFile(path, async (part) => {
    await using file = await open(part, 'w');
    return await exportRecords(store, (text) => file.appendFile(text), run);
  });
}
