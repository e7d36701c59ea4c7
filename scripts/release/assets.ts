// Where the files of the pages are in rostrum-server. Replaces src/adapters/http/pages/assets.ts in its bundle.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { StaticFile } from '../../src/adapters/http/pages/files.ts';

/** Beside the folder of the program. */
const pages = new URL('../pages/', import.meta.url);

export const docsLibrary = 'swagger-ui-dist';
export const docsFile = (name: string) => fileURLToPath(new URL(`docs/${name}`, pages));

export const hasAdmin = () => true;

export async function adminFiles(): Promise<ReadonlyMap<string, StaticFile>> {
  const read = (path: string) => readFile(new URL(`admin/${path}`, pages), 'utf8');
  const types: readonly (readonly [string, string])[] = JSON.parse(await read('files.json'));
  return new Map(types.map(([path, type]) => [path, { type, read: () => read(path) }]));
}
