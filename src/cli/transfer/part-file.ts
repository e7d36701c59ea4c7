import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../failure.ts';

/** @throws Failure if the file exists */
export function refuseExisting(path: string): void {
  if (existsSync(path)) {
    throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
  }
}

/**
 * Writes `FILE.part`, and renames it to `FILE` when it is complete and synced. Removes it after a failure,
 * to free the disk space.
 *
 * @throws Failure if the file exists
 */
export async function writeFile<T>(path: string, write: (part: string) => Promise<T>): Promise<T> {
  refuseExisting(path);
  const part = `${path}.part`;
  try {
    await rm(part, { force: true });
    const result = await write(part);
    refuseExisting(path);
    await sync(part, 'r+'); // Windows can sync only files that are open for writing.
    await rename(part, path);
    if (process.platform !== 'win32') await sync(dirname(path), 'r');
    return result;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function sync(path: string, flags: 'r' | 'r+'): Promise<void> {
  await using handle = await open(path, flags);
  await handle.sync();
}
