import { open } from 'node:fs/promises';
import type { Store } from '../../ports/store.ts';
import type { Counts } from '../count.ts';
import type { LongRun } from '../run-long.ts';
import { writeFile } from './part-file.ts';
import { batches, storeSource } from './source.ts';

/**
 * Writes all records of a store into `FILE.part`, users before posts and each by id, a record a
 * line. It becomes `FILE` when it is complete and synced to the disk.
 *
 * @throws Failure when the file exists
 */
export async function exportFile(
  store: Store,
  path: string,
  { progress, signal }: LongRun,
): Promise<Counts> {
  const source = storeSource(store, signal);
  return writeFile(path, async (part) => {
    const [all, written] = [await source.count(), { users: 0, posts: 0 }];
    await using file = await open(part, 'w');
    for (const [list, name] of [
      ['users', 'user'],
      ['posts', 'post'],
    ] as const) {
      progress.begin(list, all[list]);
      for await (const batch of batches(source[list](), ({ json }) => json.length)) {
        await file.appendFile(batch.map(({ json }) => `{"${name}":${json}}\n`).join(''));
        written[list] += batch.length;
        progress.advance(batch.length);
      }
      progress.end();
    }
    return written;
  });
}
