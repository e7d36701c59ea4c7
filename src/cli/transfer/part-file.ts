import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Failure } from '../failure.ts';

/**
 * Writes `FILE.part`, and renames it to `FILE` when it is complete and synced. Removes it after a failure,
 * to free the disk space.
 *
 * @throws Failure if the file exists
 */
export async function writeFile<T>(path: string, write: (part: string) => Promise<T>): Promise<T> {
  if (existsSync(path)) {
    throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
  }
  const part = `${path}.part`;
  try {
    await rm(part, { force: true });
    const result = await write(part);
    const file = await open(part, 'r+'); // Windows can sync only files that are open for writing.
    await file.sync().finally(() => file.close());
    await rename(part, path);
    return result;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
