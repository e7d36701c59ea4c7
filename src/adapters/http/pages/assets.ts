// Where the files of the pages are. The bundle of rostrum-server replaces this module: there, they are beside it.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { StaticFile } from './files.ts';

const require = createRequire(import.meta.url);

/** Returns the path of a file of an optional package, or undefined if the package is not installed. */
function resolveOptional(file: string): string | undefined {
  try {
    return require.resolve(file);
  } catch {
    return undefined;
  }
}

/** The optional package with Swagger UI. */
export const docsLibrary = 'swagger-ui-dist';

/** Returns the path of a file of Swagger UI. */
export const docsFile = (name: string) => resolveOptional(`${docsLibrary}/${name}`);

/** The optional package of the admin page; in a clone, its sources. */
const adminLibrary = 'rostrum-admin';
const source = new URL('../../../../packages/rostrum-admin/src/index.ts', import.meta.url);
const isClone = import.meta.url.endsWith('.ts') && existsSync(source);

export const hasAdmin = () => isClone || resolveOptional(adminLibrary) !== undefined;

/** Returns the files of the admin page, keyed by their path below `/admin`. */
export async function adminFiles(): Promise<ReadonlyMap<string, StaticFile>> {
  return (await import(isClone ? source.href : adminLibrary)).staticFiles;
}
