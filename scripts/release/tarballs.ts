// Packs the packages as they are published, into the folder tarballs/. Needs a build.
//
//   npm run tarballs

import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { install } from '../install.ts';
import { npm } from '../npm.ts';

const root = resolve(import.meta.dirname, '..', '..');
const server = join(root, '.cache', 'rostrum-server');
const client = join(root, 'packages', 'rostrum-client');
const admin = join(root, 'packages', 'rostrum-admin');
const create = join(root, 'packages', 'create-rostrum');

/** Packs the packages into a folder and returns the paths of the tarballs, in the order to publish them. */
export async function packAll(folder: string): Promise<string[]> {
  install('scripts/release');
  const { bundleServer } = await import('./bundle.ts');
  await bundleServer(server);
  await import(join(create, 'templates.js')); // Copies the templates.
  for (const path of [client, admin, create]) cpSync(join(root, 'LICENSE'), join(path, 'LICENSE'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packages = ['.', client, admin, server, create];
  const args = ['pack', '--ignore-scripts', '--pack-destination', folder, ...packages];
  const { status, stdout, stderr } = npm(args);
  const names = stdout
    .trim()
    .split('\n')
    .filter((line) => line.endsWith('.tgz'));
  const tarballs = globSync('*.tgz', { cwd: folder });
  if (status !== 0 || tarballs.length !== packages.length) throw new Error(stderr);
  return names.map((name) => join(folder, name));
}

if (process.argv[1] === import.meta.filename) {
  for (const tarball of await packAll(join(root, 'tarballs'))) console.log(tarball);
}
