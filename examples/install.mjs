// Installs what is missing: the packages of the repository, and those of the folder that it is called
// from.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const isWindows = process.platform === 'win32';

for (const [cwd, command] of [
  [resolve(import.meta.dirname, '..'), 'ci'],
  // Without a lock file, which would show up as a change of the clone.
  [process.cwd(), 'install --no-package-lock'],
]) {
  if (existsSync(join(cwd, 'node_modules'))) continue;
  const options = { cwd, stdio: 'inherit', shell: isWindows };
  const { status } = spawnSync(isWindows ? 'npm.cmd' : 'npm', command.split(' '), options);
  if (status !== 0) process.exit(1);
}
