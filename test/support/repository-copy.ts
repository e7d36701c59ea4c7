import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '..', '..');

/** Generated files and folders at the top of the repository. */
const made = new Set(['dist', 'data', 'coverage', 'tarballs', '.cache', '.git']);

/** Creates an empty directory, which is removed when disposed of. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'rostrum-')));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** Copies the working tree of the repository, with its installed packages. */
export async function copyRepository(
  from = repository,
): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await temporaryDirectory();
  await cp(from, directory.path, {
    recursive: true,
    filter: (source) => {
      const name = basename(source);
      const isMade = name === 'node_modules' || name === '.next';
      return !isMade && (dirname(source) !== from || !made.has(name));
    },
  });
  await symlink(join(repository, 'node_modules'), join(directory.path, 'node_modules'), 'junction');
  return directory;
}
