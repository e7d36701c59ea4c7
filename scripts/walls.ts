// The import boundaries: what each folder may import. What the compiler holds as well (the
// core has no package, no Node, no DOM) is in src/tsconfig.core.json.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

const core = ['src/domain/', 'src/ports/'];
const node = 'node:(?!sqlite)';
const http = ['own folder', ...core, node, 'koa$'];

/** The longest name that fits a file counts. Names of what may be imported are regular expressions. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'src/domain/': ['src/domain/[^/]+$'],
  'src/domain/services/': ['src/domain/', 'src/ports/(?!index)'],
  'src/ports/': ['src/ports/', 'src/domain/[^/]+$'],
  'src/testing/': ['src/testing/', ...core, 'src/adapters/memory/index.ts$'],
  'src/index.ts': [...core, 'src/adapters/system/'],
  'src/settings/': ['src/settings/', ...core, 'node:os$'],
  'src/adapters/': ['own folder', ...core, node],
  'src/adapters/credentials/': ['own folder', ...core, node, 'jose$'],
  'src/adapters/http/': [...http, '@koa/router$', 'koa-bodyparser$'],
  'src/adapters/http/access/': [...http, 'rate-limiter-flexible$'],
  'src/adapters/http/pages/': [...http, '@koa/router$'],
  'src/adapters/http/operator/': [...http, '@opentelemetry/api$'],
  'src/adapters/inversify/': ['src/(?:adapters|domain|ports|settings)/', 'inversify$'],
  'src/adapters/json-schema/': ['own folder', ...core, node, 'ajv(?:/|-formats$)', 're2js$'],
  'src/adapters/mcp/': ['own folder', ...core, '@modelcontextprotocol/server$', 'zod$'],
  'src/adapters/metrics/': ['own folder', ...core, node, 'prom-client$'],
  'src/adapters/mongodb/': ['own folder', ...core, node, 'mongodb$'],
  'src/adapters/sqlite/': ['own folder', ...core, 'node:'],
  'src/adapters/system/': ['own folder', ...core, node, 'pino$'],
  'src/cli/': [
    'src/(?!adapters/.*/(?!index.ts|open-store.ts))',
    node,
    'commander$',
    'csv-parse',
    'temporal-polyfill$',
  ],
  'src/main.ts': ['src/', node],
  'packages/rostrum-client/src/': ['packages/rostrum-client/src/'],
  'packages/rostrum-admin/src/': [node],
  'packages/rostrum-admin/src/page/': [
    'packages/rostrum-admin/src/page/',
    'lit-html($|/)',
    'rostrum-client$',
  ],
};

/** What the core may not do, beside importing: it would get round the compiler. */
const ways =
  /globalThis|\bimport\(|^(?:export )?declare |@ts-\w+|biome-ignore|<reference (?!lib=)/gm;
const imports =
  /^(?:import|export)\s(?:[\w\s{},*]+\sfrom\s)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
/** `@media` is CSS. */
const decorators = /^ *@(?!media\b)\w/gm;

const root = resolve(import.meta.dirname, '..');

function allowedIn(file: string): RegExp[] {
  const folders = Object.keys(mayImport).filter((folder) => file.startsWith(folder));
  const [folder = ''] = folders.sort((a, b) => b.length - a.length);
  const ownFolder = `${file.split('/').slice(0, 3).join('/')}/`;
  const names = mayImport[folder] ?? [];
  return names.map((name) => new RegExp(`^${name === 'own folder' ? ownFolder : name}`));
}

function check(file: string, text: string): void {
  const complain = (index: number, message: string): void => {
    console.error(`${file}:${text.slice(0, index).split('\n').length} ${message}`);
    process.exitCode = 1;
  };
  const allowed = allowedIn(file);
  for (const { index, 1: statement, 2: call = '' } of text.matchAll(imports)) {
    const name = statement ?? call;
    const target = name.startsWith('.') ? posix.join(posix.dirname(file), name) : name;
    if (!allowed.some((pattern) => pattern.test(target)))
      complain(index, `may not import ${target}`);
  }
  const isCore = core.some((folder) => file.startsWith(folder));
  for (const { index, 0: way } of isCore ? text.matchAll(ways) : []) {
    complain(index, `the core may not use ${way.trim()}`);
  }
  for (const { index } of text.matchAll(decorators))
    complain(index, 'no decorators: classes are plain');
}

for (const folder of ['src', 'packages/rostrum-client/src', 'packages/rostrum-admin/src']) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort();
  for (const name of names.filter((one) => one.endsWith('.ts'))) {
    check(posix.join(folder, name), readFileSync(join(root, folder, name), 'utf8'));
  }
}
