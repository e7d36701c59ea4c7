import { createHash } from 'node:crypto';
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const exe = process.platform === 'win32' ? 'mongod.exe' : 'mongod';

/** Outside the repository, so that every clone of it finds what one of them has brought. */
const directory = join(
  process.env.XDG_CACHE_HOME || process.env.LOCALAPPDATA || join(homedir(), '.cache'),
  'rostrum-mongod',
);

/** The server binary that an earlier run has brought. */
export async function cachedBinary(): Promise<string | undefined> {
  const path = join(directory, exe);
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/**
 * Lets `bring` make a binary in a directory of its own, and keeps it when it is the right one.
 * Several processes may do so at once.
 */
export async function cacheBinary(
  bring: (directory: string) => Promise<string>,
  sha256?: string,
): Promise<string> {
  await mkdir(directory, { recursive: true });
  const own = await mkdtemp(join(directory, 'new-'));
  try {
    const brought = await bring(own);
    if (sha256 !== undefined && (await sha256Of(brought)) !== sha256) {
      throw new Error(`its SHA-256 is not ${sha256}`);
    }
    await chmod(brought, 0o755);
    await rename(brought, join(directory, exe));
    return join(directory, exe);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function sha256Of(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
