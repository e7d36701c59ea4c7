// Installs what is missing: the packages of the repository, and those of the folder that it is called
// from.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const isWindows = process.platform === 'win32';

for (const cwd of [resolve(import.meta.dirname, '..'), process.cwd()]) {
  // npm writes this file last.
  if (existsSync(join(cwd, 'node_modules', '.package-lock.json'))) continue;
  const options = { cwd, stdio: 'inherit', shell: isWindows };
  const { status } = spawnSync(isWindows ? 'npm.cmd' : 'npm', ['ci'], options);
  if (status !== 0) process.exit(1);
}
