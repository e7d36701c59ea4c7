import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Runs the npm that runs this script, on the same Node; otherwise the npm on the path. */
export function npm(args: readonly string[], cwd = resolve(import.meta.dirname, '..')) {
  const cli = process.env.npm_execpath;
  const isWindows = process.platform === 'win32';
  const [command = '', ...first] = cli?.endsWith('.js')
    ? [process.execPath, cli]
    : [isWindows ? 'npm.cmd' : 'npm'];
  const options = { cwd, maxBuffer: 64 * 1024 * 1024, shell: isWindows && first.length === 0 };
  return spawnSync(command, [...first, ...args], { ...options, encoding: 'utf8' });
}
