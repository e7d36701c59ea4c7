import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { node, type Outcome } from './support/process.ts';
import { copyRepository } from './support/repository-copy.ts';

// Every wall of the house is held by a part of `npm run check`, which holds before these tests run.
// Here every wall is broken in a copy of the repository, and the part has to say which, and where.

type Part = 'style' | 'types' | 'walls' | 'unused' | 'package';

interface Plant {
  readonly what: string;
  readonly file: string;
  readonly text: string;
  /** What the parts that catch it have to say. */
  readonly caught: Readonly<Partial<Record<Part, RegExp>>>;
}

let plants = 0;

/** A file with a name that no other plant has. */
function plant(
  what: string,
  folder: string,
  text: string,
  caught: Readonly<Partial<Record<Part, (file: string) => RegExp>>>,
): Plant {
  plants += 1;
  const file = `${folder}/planted-${plants}.ts`;
  const says = Object.entries(caught).map(([part, of]) => [part, of(file.replaceAll('.', '\\.'))]);
  return { what, file, text: `${text}\n`, caught: Object.fromEntries(says) };
}

/** What the compiler, the linter and scripts/walls.ts say. */
const tsc = (code: string) => (file: string) =>
  new RegExp(`^${file}\\(\\d+,\\d+\\): error ${code}:`, 'm');
const lint = (rule: string) => (file: string) => new RegExp(`^${file}:\\d+:\\d+ ${rule}`, 'm');
const wall = (words: string) => (file: string) => new RegExp(`^${file}:\\d+ ${words}`, 'm');

const imports = lint('lint/style/noRestrictedImports');

/** Imports that cross a wall: what it is, in which folder, and what is imported. */
const crossings: readonly [what: string, folder: string, specifier: string][] = [
  ['a package in the domain', 'src/domain', 'koa'],
  ['Node in the domain', 'src/domain', 'node:fs'],
  ['a port in the domain, outside of its services', 'src/domain', '../ports/clock.ts'],
  ['an adapter in the domain', 'src/domain', '../adapters/memory/index.ts'],
  ['an adapter in a service', 'src/domain/services', '../../adapters/memory/index.ts'],
  ['a driver in a port', 'src/ports', 'mongodb'],
  ['a service in a port', 'src/ports', '../domain/services/rostrum.ts'],
  ['an adapter in the suite', 'src/testing', '../adapters/memory/index.ts'],
  ['a package in the suite', 'src/testing', 'chai'],
  ['Inversify in the settings', 'src/settings', 'inversify'],
  ['the program in the settings', 'src/settings', '../cli/failure.ts'],
  ['an adapter in the settings', 'src/settings', '../adapters/memory/index.ts'],
  ['a port in the client', 'src/client', '../ports/clock.ts'],
  ['one adapter in another', 'src/adapters/memory', '../http/index.ts'],
  ['one adapter in a room of another', 'src/adapters/http/server', '../../memory/index.ts'],
  ['a driver in HTTP', 'src/adapters/http', 'mongodb'],
  ['a framework in metrics', 'src/adapters/metrics', 'koa'],
  ['an SDK beside the API of OpenTelemetry', 'src/adapters/opentelemetry', '@opentelemetry/core'],
  ['a driver in a room of HTTP', 'src/adapters/http/server', 'mongodb'],
  ['a driver of Node in HTTP', 'src/adapters/http', 'node:sqlite'],
  ['a driver in the credentials', 'src/adapters/credentials', 'mongodb'],
  ['a driver in the JSON Schema', 'src/adapters/json-schema', 'mongodb'],
  ['HTTP in the clock, the ids and the logger', 'src/adapters/system', 'koa'],
  ['another driver in SQLite', 'src/adapters/sqlite', 'mongodb'],
  ['another driver in MongoDB', 'src/adapters/mongodb', 'node:sqlite'],
  ['one adapter in a room of MongoDB', 'src/adapters/mongodb/lists', '../../sqlite/index.ts'],
  ['HTTP in the container', 'src/adapters/inversify', 'koa'],
  ['Inversify in the program', 'src/cli', 'inversify'],
  ['a driver in the program', 'src/cli', 'mongodb'],
];

/** None of these changes how another file is checked: one copy has them all. */
const planted: readonly Plant[] = [
  ...crossings.map(([what, folder, specifier], index) => {
    // In every form that an import has.
    const forms = [`import '${specifier}';`, `export * from '${specifier}';`];
    forms.push(`import type * as a from '${specifier}';\nexport type { a };`);
    forms.push(`export const a = () => import('${specifier}');`);
    return plant(what, folder, forms[index % forms.length] ?? '', { style: imports });
  }),
  plant('a type of a package in a port', 'src/ports', "export type A = import('mongodb').Db;", {
    style: lint('plugin'),
    types: tsc('TS2306'),
  }),
  plant('an import of a package in the domain', 'src/domain', "export * from 'inversify';", {
    types: tsc('TS2306'),
  }),
  plant('an adapter in the core project', 'src/domain', "export * from '../settings/index.ts';", {
    types: tsc('TS6307'),
  }),
  plant('process in the domain', 'src/domain', 'export const a = process.env;', {
    types: tsc('TS2591'),
  }),
  plant('globalThis in the domain', 'src/domain', 'export const a = globalThis;', {
    style: lint('lint/style/noRestrictedGlobals'),
  }),
  plant('what is declared by hand', 'src/domain', 'declare const a: 1;\nexport const b = a;', {
    walls: wall('the core may not declare'),
  }),
  plant('a computed import', 'src/domain', 'export const a = (b: string) => import(b);', {
    walls: wall('the core may not import at run time'),
  }),
  plant('a silenced check', 'src/ports', '// @ts-ignore: planted\nexport const a = 1;', {
    walls: wall('the core may not silence a check'),
  }),
  plant('a reference', 'src/domain', '/// <reference types="mocha" />\nexport const a = 1;', {
    walls: wall('the core may not reference'),
  }),
  plant(
    'a static import in the settings',
    'src/settings',
    "export { createMemoryStore } from '../adapters/memory/index.ts';",
    { walls: wall('the settings may not import an adapter statically') },
  ),
  plant(
    'a decorator',
    'src/adapters/memory',
    'const seal = (_class: unknown, _context: unknown): void => {};\n@seal\nexport class A {}',
    { style: lint('plugin') },
  ),
  plant('an unused file', 'src/domain', 'export {};', {
    unused: (file) => new RegExp(`^Unused files[^:]*\\n(?:src/.*\\n)*${file}\\s*$`, 'm'),
  }),
  ...['src/domain', 'src/adapters/memory', 'test', 'scripts'].map((folder) =>
    plant(`a type error in ${folder}`, folder, 'export const a: string = 1;', {
      types: tsc('TS2322'),
    }),
  ),
  plant('an explicit any', 'src/domain', 'export const a = (x: any): unknown => x;', {
    style: lint('lint/suspicious/noExplicitAny'),
  }),
  plant('a file that is not formatted', 'src/domain', 'export  const a = 1;', {
    style: (file) => new RegExp(`^${file} format`, 'm'),
  }),
  {
    what: 'an import circle, also of types',
    file: 'src/ports/planted-circle.ts',
    text: "import type { B } from './planted-back.ts';\n\nexport type A = B | 1;\n",
    caught: { style: lint('lint/suspicious/noImportCycles')('src/ports/planted-circle\\.ts') },
  },
  {
    what: 'the rest of the circle',
    file: 'src/ports/planted-back.ts',
    text: "import type { A } from './planted-circle.ts';\n\nexport type B = A | 2;\n",
    caught: {},
  },
  {
    what: 'an unused export',
    file: 'src/domain/planted.ts',
    text: 'export const used = 1;\nexport const planted = 2;\n',
    caught: { unused: /^planted +src\/domain\/planted\.ts/m },
  },
  {
    what: 'its user',
    file: 'test/planted.test.ts',
    text: "import { used } from '../src/domain/planted.ts';\nexport { used };\n",
    caught: {},
  },
  {
    what: 'an unused dependency',
    file: 'package.json',
    text: await packageWith('devDependencies', { planted: '1.0.0' }),
    caught: { unused: /^planted +package\.json/m },
  },
];

/** A package needs a build, and so a copy in which nothing else is planted. */
const unbuilt: Plant = {
  what: 'an export that is not built',
  file: 'package.json',
  text: await packageWith('exports', {
    './planted': { types: './dist/planted.d.ts', default: './dist/planted.js' },
  }),
  caught: { package: /exports\["\.\/planted"\]\.default is \.\/dist\/planted\.js but/ },
};

describe('the walls', function () {
  this.timeout(120_000);

  for (const group of [planted, [unbuilt]]) {
    const parts = [...new Set(group.flatMap(({ caught }) => Object.keys(caught)))];

    describe(parts.join(', '), () => {
      let outcome: Outcome;
      before(async () => {
        await using copy = await copyRepository();
        for (const { file, text } of group) {
          await mkdir(dirname(join(copy.path, file)), { recursive: true });
          await writeFile(join(copy.path, file), text);
        }
        const args = ['scripts/check.ts', '--only', parts.join()];
        outcome = await node(args, { cwd: copy.path });
      });

      it('fail', () => {
        expect(outcome.code, outcome.output).to.equal(1);
        for (const part of parts) expect(outcome.output).to.match(new RegExp(`^✗ ${part}: `, 'm'));
      });

      for (const { what, caught } of group) {
        for (const [part, words] of Object.entries(caught)) {
          it(`hold against ${what} (${part})`, () => {
            expect(outcome.output).to.match(words);
          });
        }
      }
    });
  }
});

/** package.json with more in one of its tables than it has. */
async function packageWith(table: string, entries: object): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const manifest: Record<string, object> = JSON.parse(text);
  manifest[table] = { ...manifest[table], ...entries };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
