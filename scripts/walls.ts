// The walls that neither the linter (walls/imports.json, walls/plain-classes.grit) nor the compiler
// (src/tsconfig.core.json) sees: comments that silence them, and what only looks like plain code.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

interface Wall {
  readonly files: RegExp;
  readonly denied: RegExp;
  readonly message: string;
}

const core = /^src\/(?:domain|ports)\//;

const walls: readonly Wall[] = [
  {
    files: core,
    denied: /\/\/\/ *<reference (?!lib="esnext\.disposable")/g,
    message: 'the core may not reference other declarations',
  },
  {
    files: core,
    denied: /@ts-(?:ignore|expect-error|nocheck)|biome-ignore/g,
    message: 'the core may not silence a check',
  },
  {
    files: core,
    denied: /^(?:export )?declare /gm,
    message: 'the core may not declare what it does not make',
  },
  { files: core, denied: /\bimport\(/g, message: 'the core may not import at run time' },
  {
    files: /^src\/settings\//,
    denied: /^(?:import|export) (?!type )[^;]*? from '\.\.\/adapters\//gm,
    message: 'the settings may not import an adapter statically',
  },
  {
    files: /^src\/.*(?<!\.ts)$|^src\/.*\.d\.ts$/,
    denied: /^/g,
    message: 'src holds modules in .ts files and nothing else',
  },
];

const root = resolve(import.meta.dirname, '..');
const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.startsWith('tsconfig'))
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));

for (const path of files.map((file) => file.split(sep).join('/')).sort()) {
  const text = readFileSync(join(root, path), 'utf8');
  for (const { files: where, denied, message } of walls) {
    if (!where.test(path)) continue;
    for (const { index } of text.matchAll(denied)) {
      console.error(`${path}:${text.slice(0, index).split('\n').length} ${message}`);
      process.exitCode = 1;
    }
  }
}
