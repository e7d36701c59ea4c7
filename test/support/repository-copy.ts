import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '..', '..');

/** At the top of the repository: what is made there and not written. */
const made = new Set(['dist', 'data', 'coverage', '.cache', '.git']);

/** An empty directory that is gone when its holder is done with it. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'rostrum-')));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** A copy of the repository as it stands in the working tree, with its installed packages. */
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
