import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../failure.ts';

/** @throws Failure */
export function refuseExisting(path: string): void {
  if (existsSync(path)) {
    throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
  }
}

/**
 * Writes `FILE.part`, which becomes `FILE` when it is complete and synced to the disk. After a
 * failure nothing of it is left, so that the disk has its space again.
 *
 * @throws Failure when the file exists
 */
export async function writeFile<T>(path: string, write: (part: string) => Promise<T>): Promise<T> {
  refuseExisting(path);
  const part = `${path}.part`;
  try {
    // What a killed process left is of no use.
    await rm(part, { force: true });
    const result = await write(part);
    refuseExisting(path);
    await sync(part, 'r+'); // Windows syncs only what is open for writing.
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
