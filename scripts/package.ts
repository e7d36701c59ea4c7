// Packs the packages as they would be published, and checks them with publint and attw. Needs a build.
//
//   node scripts/package.ts

import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { npm } from './npm.ts';

const root = resolve(import.meta.dirname, '..');
const packages = ['.', './packages/rostrum-client', './packages/rostrum-admin'];

function run(script: string, ...args: string[]): void {
  const path = join(root, 'node_modules', script);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    encoding: 'utf8',
  });
  if (status === 0) return;
  console.error(`${stdout}${stderr}`);
  process.exitCode = 1;
}

const directory = mkdtempSync(join(tmpdir(), 'rostrum-pack-'));
try {
  const { status, stderr } = npm(
    ...['pack', '--ignore-scripts', '--pack-destination', directory],
    ...packages,
  );
  const tarballs = globSync('*.tgz', { cwd: directory });
  if (status !== 0 || tarballs.length !== packages.length) throw new Error(stderr);
  for (const tarball of tarballs) {
    const path = join(directory, tarball);
    run('publint/src/cli.js', 'run', path, '--strict');
    run('@arethetypeswrong/cli/dist/index.js', path, '--profile', 'esm-only', '--no-color');
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
