import { createHash } from 'node:crypto';
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const exe = process.platform === 'win32' ? 'mongod.exe' : 'mongod';

/** Outside the repository, so that all clones share the downloads. */
const directory = join(
  process.env.XDG_CACHE_HOME || process.env.LOCALAPPDATA || join(homedir(), '.cache'),
  'rostrum-mongod',
);

/** Returns the server binary that an earlier run has downloaded. */
export async function cachedBinary(): Promise<string | undefined> {
  const path = join(directory, exe);
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/**
 * Lets `download` store a binary in a temporary directory, and keeps it if its checksum is right. Safe for
 * concurrent processes.
 */
export async function cacheBinary(
  download: (directory: string) => Promise<string>,
  sha256?: string,
): Promise<string> {
  await mkdir(directory, { recursive: true });
  const own = await mkdtemp(join(directory, 'new-'));
  try {
    const downloaded = await download(own);
    if (sha256 !== undefined && (await sha256Of(downloaded)) !== sha256) {
      throw new Error(`its SHA-256 is not ${sha256}`);
    }
    await chmod(downloaded, 0o755);
    await rename(downloaded, join(directory, exe));
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
