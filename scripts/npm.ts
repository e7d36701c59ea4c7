import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Runs the npm that runs us, under our Node; the one on the path otherwise. */
export function npm(...args: readonly string[]): SpawnSyncReturns<string> {
  const cli = process.env.npm_execpath;
  const [command, ...first] = cli?.endsWith('.js') ? [process.execPath, cli] : ['npm'];
  return spawnSync(command as string, [...first, ...args], {
    cwd: resolve(import.meta.dirname, '..'),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}
