// Installs the packages of folders that have a lock file of their own: those of the examples and the slow tests.
//
//   node scripts/install.ts FOLDER…

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { npm } from './npm.ts';

const root = resolve(import.meta.dirname, '..');

/** Installs what is missing. Processes that want the same folder wait for each other. */
export function install(...folders: readonly string[]): void {
  const missing = folders.map((folder) => join(root, folder)).filter((path) => !isInstalled(path));
  if (missing.length === 0) return;
  mkdirSync(join(root, '.cache'), { recursive: true });
  // A transaction is a lock that the system releases, however the process ends.
  const lock = new DatabaseSync(join(root, '.cache', 'install.lock'), { timeout: 600_000 });
  lock.exec('begin exclusive');
  try {
    for (const path of missing.filter((one) => !isInstalled(one))) {
      console.error(`Installing the packages of ${path} …`);
      // No package needs its install script.
      const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'];
      const { status, stderr } = npm(args, path);
      if (status !== 0) throw new Error(`npm ci failed in ${path}: ${stderr}`);
      writeFileSync(stampOf(path), lockOf(path));
    }
  } finally {
    lock.close();
  }
}

/** A copy of the lock file, written after a complete installation. */
const stampOf = (path: string) => join(path, 'node_modules', '.installed.json');
const lockOf = (path: string) => readFileSync(join(path, 'package-lock.json'), 'utf8');

function isInstalled(path: string): boolean {
  try {
    return readFileSync(stampOf(path), 'utf8') === lockOf(path);
  } catch {
    return false;
  }
}

if (process.argv[1] === import.meta.filename) install(...process.argv.slice(2));
