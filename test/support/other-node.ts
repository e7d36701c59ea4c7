import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npm } from './process.ts';

/** Installs a version of Node from the package registry into a folder and returns its path. */
export async function installNode(version: string, folder: string): Promise<string> {
  const project = { private: true, allowScripts: { node: true } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  const args = ['install', '--no-audit', '--no-fund', `node@${version}`];
  const { code, output } = await npm(args, { cwd: folder });
  if (code !== 0) throw new Error(output);
  return join(folder, 'node_modules', 'node', 'bin', 'node');
}
