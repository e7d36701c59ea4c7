// Runs every `check:…` script of package.json at once. Each line says which one printed it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import manifest from '../package.json' with { type: 'json' };

const { scripts } = manifest;

async function run(name: string): Promise<void> {
  const child = spawn('npm', ['run', '--silent', name], {
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => console.log(`[${name}] ${line}`));
  }
  const [code] = await once(child, 'close');
  if (code !== 0) process.exitCode = 1;
}

await Promise.all(
  Object.keys(scripts)
    .filter((name) => name.startsWith('check:'))
    .map(run),
);
