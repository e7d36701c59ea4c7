import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../failure.ts';

/** @throws Failure */
export function refuseExisting(path: string): void {
  if (existsSync(path)) {
    throw new Failure(`The file ${path} exists: remove it, or choose another name.`);
  }
}

/** Syncs a complete file and renames it, so that it outlives a loss of power. */
export async function keepPart(part: string, path: string): Promise<void> {
  refuseExisting(path);
  await sync(part, 'r+'); // Windows syncs only what is open for writing.
  await rename(part, path);
  if (process.platform !== 'win32') await sync(dirname(path), 'r');
}

async function sync(path: string, flags: 'r' | 'r+'): Promise<void> {
  await using handle = await open(path, flags);
  await handle.sync();
}
