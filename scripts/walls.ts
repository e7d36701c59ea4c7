// Checks what each folder imports. A linter's restricted imports can't: they compare the text of an
// import, and only its resolved path says whether it leaves an adapter's own folder.

import { globSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

const core = ['src/domain/', 'src/ports/'];
const node = 'node:(?!sqlite)';

/** Parts of the HTTP adapter, each above those that it may import. */
const http = (parts = '') => [`src/adapters/http/(?:${parts})`, ...core, node, 'koa$'];

/** Regular expressions of what files can import; the longest folder that fits a file counts. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'src/domain/': ['src/domain/(?!services/)'],
  'src/domain/services/': ['src/domain/', 'src/ports/(?!index)'],
  'src/ports/': ['src/ports/', 'src/domain/(?!services/)'],
  'src/testing/': ['src/testing/', ...core, 'src/adapters/memory/index.ts$'],
  'src/index.ts': [...core, 'src/adapters/system/'],
  'src/settings/': ['src/settings/', ...core, 'node:os$'],
  'src/adapters/': ['own folder', ...core, node],
  'src/adapters/credentials/': ['own folder', ...core, node, 'jose$'],
  'src/adapters/http/': [...http(), '@koa/router$', 'koa-(?:bodyparser|compose)$'],
  'src/adapters/http/problems/': http('problems/|sizes'),
  'src/adapters/http/operator/': [
    ...http('operator/|problems/|context|limits/|target'),
    '@opentelemetry/api$',
  ],
  'src/adapters/http/access/': http('access/|operator/|problems/|client-address|context|target'),
  'src/adapters/http/lists/': http('lists/|problems/|context|endpoint.ts|target|validate'),
  'src/adapters/http/endpoints/': http('(?!app|fetch/|openapi/|pages/|router|server/)'),
  'src/adapters/http/openapi/': http(
    'openapi/|endpoints/|problems/|endpoint.ts|options|check-options|sizes|target',
  ),
  'src/adapters/http/pages/': [...http('(?!app|fetch/|openapi/|server/)'), '@koa/router$'],
  'src/adapters/inversify/': [
    'src/(?:adapters|domain|ports|settings)/',
    'inversify$',
    'rate-limiter-flexible$',
  ],
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

/** What would get round the compiler, which gives the core no package, no Node and no DOM. */
const evasions =
  /globalThis|\bimport\(|^(?:export )?declare |@ts-\w+|biome-ignore|<reference (?!lib=)/gm;
const imports =
  /^(?:import|export)\s(?:[\w\s{},*]+\sfrom\s)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
/** `@media` is CSS. */
const decorators = /^ *@(?!media\b)\w/gm;

function check(file: string, text: string): void {
  const complain = (index: number, message: string): void => {
    console.error(`${file}:${text.slice(0, index).split('\n').length} ${message}`);
    process.exitCode = 1;
  };
  const folders = Object.keys(mayImport).filter((folder) => file.startsWith(folder));
  const [folder = ''] = folders.sort((a, b) => b.length - a.length);
  const ownFolder = `${file.split('/').slice(0, 3).join('/')}/`;
  const allowed = mayImport[folder]
    ?.map((name) => name.replace('own folder', ownFolder))
    .join('|^');
  for (const { index, 1: statement, 2: call = '' } of text.matchAll(imports)) {
    const name = statement ?? call;
    const target = name.startsWith('.') ? posix.join(posix.dirname(file), name) : name;
    if (!allowed || !new RegExp(`^${allowed}`).test(target)) {
      complain(index, `may not import ${target}`);
    }
  }
  const isCore = core.some((one) => file.startsWith(one));
  for (const { index, 0: found } of isCore ? text.matchAll(evasions) : []) {
    complain(index, `the core may not use ${found.trim()}`);
  }
  for (const { index } of text.matchAll(decorators)) complain(index, 'no decorators');
}

const cwd = resolve(import.meta.dirname, '..');
for (const file of globSync('{src,packages/rostrum-{client,admin}/src}/**/*.ts', { cwd }).sort()) {
  check(file.replaceAll('\\', '/'), readFileSync(join(cwd, file), 'utf8'));
}
