// Checks packed packages with publint and attw.
//
//   node scripts/release/check.ts TARBALL…

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install } from '../install.ts';

install('scripts/release');

function run(script: string, ...args: string[]): void {
  const path = join(import.meta.dirname, 'node_modules', script);
  const options = { encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], options);
  if (status === 0) return;
  console.error(`${stdout}${stderr}`);
  process.exitCode = 1;
}

for (const tarball of process.argv.slice(2)) {
  run('publint/src/cli.js', 'run', tarball, '--strict');
  // These are programs without exports.
  if (/(?:rostrum-server|create-rostrum)-/.test(tarball)) continue;
  run('@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only', '--no-color');
}
