// Installs what is missing: the packages of the repository, and those of the folder that it is called
// from.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const isWindows = process.platform === 'win32';

for (const [cwd, command] of [
  [resolve(import.meta.dirname, '..'), 'ci'],
  [process.cwd(), 'install'],
]) {
  if (existsSync(join(cwd, 'node_modules'))) continue;
  const options = { cwd, stdio: 'inherit', shell: isWindows };
  const { status } = spawnSync(isWindows ? 'npm.cmd' : 'npm', [command], options);
  if (status !== 0) process.exit(1);
}
