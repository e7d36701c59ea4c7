import { open } from 'node:fs/promises';
import type { Entity } from '../../domain/record.ts';
import type { Store } from '../../ports/store.ts';
import type { Counts } from '../count.ts';
import type { LongRun } from '../run-long.ts';
import { writeFile } from './part-file.ts';
import { batchLimits, type Records, storeSource } from './source.ts';

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
    const all = await source.count();
    await using file = await open(part, 'w');
    const write = async (kind: 'user' | 'post', records: Records<Entity>): Promise<number> => {
      let [count, lines, length]: [number, string[], number] = [0, [], 0];
      const flush = async () => {
        await file.appendFile(lines.join(''));
        [lines, length] = [[], 0];
      };
      for await (const { json } of records) {
        lines.push(`{"${kind}":${json}}\n`);
        length += json.length;
        count += 1;
        progress.advance(1);
        if (length >= batchLimits.bytes) await flush();
      }
      await flush();
      progress.end();
      return count;
    };
    progress.begin('users', all.users);
    const users = await write('user', source.users());
    progress.begin('posts', all.posts);
    return { users, posts: await write('post', source.posts()) };
  });
}
