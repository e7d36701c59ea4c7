import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Runs the npm that runs this script, on the same Node; otherwise the npm on the path. */
export function npm(...args: readonly string[]) {
  const cli = process.env.npm_execpath;
  const [command = '', ...first] = cli?.endsWith('.js') ? [process.execPath, cli] : ['npm'];
  const options = { cwd: resolve(import.meta.dirname, '..'), maxBuffer: 64 * 1024 * 1024 };
  return spawnSync(command, [...first, ...args], { ...options, encoding: 'utf8' });
}
