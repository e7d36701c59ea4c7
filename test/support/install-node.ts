import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { npm } from './process.ts';

/** Installs a version of Node below a folder, and returns the path of its binary. */
export async function installNode(version: string, folder: string): Promise<string> {
  const home = join(folder, `node-${version}`);
  mkdirSync(home);
  const project = { private: true, allowScripts: { node: true } };
  writeFileSync(join(home, 'package.json'), JSON.stringify(project));
  const args = ['install', '--no-audit', '--no-fund', `node@${version}`];
  const { code, output } = await npm(args, { cwd: home });
  expect(code, output).to.equal(0);
  return join(home, 'node_modules', 'node', 'bin', 'node');
}
