import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { whenFree } from './support/parallel.ts';
import { node, npm, type Outcome } from './support/process.ts';
import { copyRepository } from './support/repository-copy.ts';

// Every wall of the house is held by a part of `npm run check`. Here each one is broken, in a copy
// of the repository, and the part that holds it has to say so, and where.

type Part = 'style' | 'types' | 'walls' | 'unused' | 'package';

interface Plant {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** What the parts that catch it have to say. */
  readonly caught: Readonly<Partial<Record<Part, RegExp>>>;
}

let files = 0;

/** One file, with a name that no other plant has. */
function plant(
  what: string,
  folder: string,
  text: string,
  caught: Readonly<Partial<Record<Part, (file: string) => RegExp>>>,
): Plant {
  files += 1;
  const file = `${folder}/planted-${files}.ts`;
  return {
    what,
    files: { [file]: `${text}\n` },
    caught: Object.fromEntries(
      Object.entries(caught).map(([part, says]) => [part, says(file.replaceAll('.', '\\.'))]),
    ),
  };
}

/** What tsc says, by the code of its error. */
const tsc = (code: string) => (file: string) =>
  new RegExp(`^${file}\\(\\d+,\\d+\\): error ${code}:`, 'm');
/** What scripts/walls.ts says. */
const wall = (words: string) => (file: string) => new RegExp(`^${file}:\\d+:\\d+ ${words}`, 'm');

/** None of these changes how another file is checked: one copy has them all. */
const together: readonly Plant[] = [
  plant('koa in the domain', 'src/domain', "import Koa from 'koa';\nexport const a = new Koa();", {
    types: tsc('TS2306'),
    walls: wall('domain may not import koa'),
  }),
  plant('koa in the domain, for its side effects', 'src/domain', "import 'koa';", {
    walls: wall('domain may not import koa'),
  }),
  plant('node:fs in the domain', 'src/domain', "export { readFileSync } from 'node:fs';", {
    types: tsc('TS2306'),
    walls: wall('domain may not import node:fs'),
  }),
  plant('process in the domain', 'src/domain', 'export const a = process.env;', {
    types: tsc('TS2591'),
  }),
  plant(
    'process in the domain, declared by hand',
    'src/domain',
    'declare const process: { env: object };\nexport const a = process.env;',
    { walls: wall('domain may not declare') },
  ),
  plant('inversify in the domain', 'src/domain', "export const a = () => import('inversify');", {
    types: tsc('TS2306'),
    walls: wall('domain may not import inversify'),
  }),
  plant(
    'a type of mongodb in a port',
    'src/ports',
    "import type { Db } from 'mongodb';\nexport type Planted = Db;",
    { types: tsc('TS2306'), walls: wall('ports may not import mongodb') },
  ),
  plant(
    'a type of mongodb in a port, without an import statement',
    'src/ports',
    "export type Planted = import('mongodb').Db;",
    { types: tsc('TS2306'), walls: wall('ports may not import mongodb') },
  ),
  plant(
    'an adapter in the domain',
    'src/domain',
    "export { openMemoryStore } from '../adapters/memory/index.ts';",
    { types: tsc('TS6307'), walls: wall('domain may not import adapters/memory') },
  ),
  plant(
    'one adapter importing another',
    'src/adapters/memory',
    "export { endpoints } from '../http/endpoints.ts';",
    { walls: wall('adapters/memory may not import adapters/http') },
  ),
  plant('a driver in http', 'src/adapters/http', "export { MongoClient } from 'mongodb';", {
    walls: wall('adapters/http may not import mongodb'),
  }),
  plant(
    'a driver of Node in http',
    'src/adapters/http',
    "export const a = () => import('node:sqlite');",
    { walls: wall('adapters/http may not import node:sqlite') },
  ),
  plant(
    'a decorator',
    'src/adapters/memory',
    [
      'const seal = (_class: unknown, _context: ClassDecoratorContext): void => {};',
      '@seal',
      'export class Planted {}',
    ].join('\n'),
    { walls: wall('no decorators') },
  ),
  plant('an unused file', 'src/domain', 'export {};', {
    unused: (file) => new RegExp(`^Unused files[^:]*\\n${file}\\s*$`, 'm'),
  }),
  ...['src/domain', 'src/adapters/memory', 'test', 'scripts'].map((folder) =>
    plant(`a type error in ${folder}`, folder, 'export const a: string = 1;', {
      types: tsc('TS2322'),
    }),
  ),
  plant('an explicit any', 'src/domain', 'export const a = (x: any): unknown => x;', {
    style: (file) => new RegExp(`^${file}:1:\\d+ lint/suspicious/noExplicitAny`, 'm'),
  }),
  plant('a file that is not formatted', 'src/domain', 'export  const a = 1;', {
    style: (file) => new RegExp(`^${file} format`, 'm'),
  }),
];

/** These change what others are checked against, so each has a copy of its own. */
const alone: readonly Plant[] = [
  plant(
    "process in the domain, by a reference to Node's types",
    'src/domain',
    '/// <reference types="node" />\nexport const a = process.env;',
    { walls: wall('domain may not reference node') },
  ),
  {
    what: 'an unused export',
    files: {
      'src/domain/planted.ts': 'export const used = 1;\nexport const planted = 2;\n',
      'test/planted.test.ts':
        "import { used } from '../src/domain/planted.ts';\nexport { used };\n",
    },
    caught: { unused: /Unused exports[\s\S]*planted\s+src\/domain\/planted\.ts/ },
  },
  {
    what: 'an unused dependency',
    files: { 'package.json': await packageWith({ devDependencies: { planted: '1.0.0' } }) },
    caught: { unused: /Unused devDependencies[\s\S]*planted\s+package\.json/ },
  },
  {
    what: 'an export that is not built',
    files: {
      'package.json': await packageWith({
        exports: { './planted': { types: './dist/planted.d.ts', default: './dist/planted.js' } },
      }),
    },
    caught: { package: /exports\["\.\/planted"\]\.default is \.\/dist\/planted\.js but/ },
  },
];

const catching = (plants: readonly Plant[]): string[] => [
  ...new Set(plants.flatMap(({ caught }) => Object.keys(caught))),
];

describe('the walls', function () {
  this.timeout(120_000);

  // All start at once, as many at a time as there are processors; each test waits for its own.
  let unplanted: Promise<Outcome>;
  const outcomes = new Map<Plant, Promise<Outcome>>();
  before(() => {
    unplanted = check([], (copy) => npm(['run', 'check'], { cwd: copy }));
    for (const plants of [together, ...alone.map((one) => [one])]) {
      const outcome = check(plants, (copy) =>
        node(['scripts/check.ts', '--only', catching(plants).join()], { cwd: copy }),
      );
      for (const one of plants) outcomes.set(one, outcome);
    }
    for (const outcome of [unplanted, ...outcomes.values()]) outcome.catch(() => {}); // its tests tell
  });

  it('stand, by every part of `npm run check`', async () => {
    const { code, output } = await unplanted;
    expect(code, output).to.equal(0);
    for (const part of catching([...together, ...alone])) {
      expect(output).to.match(new RegExp(`^✓ ${part}: `, 'm'));
    }
  });

  for (const one of [...together, ...alone]) {
    it(`hold against ${one.what} (${catching([one]).join(', ')})`, async () => {
      const outcome = await outcomes.get(one);
      expect(outcome?.code, outcome?.output).to.equal(1);
      for (const [part, words] of Object.entries(one.caught)) {
        expect(outcome?.output).to.match(new RegExp(`^✗ ${part}: `, 'm'));
        expect(outcome?.output).to.match(words);
      }
    });
  }
});

function check(
  plants: readonly Plant[],
  run: (copy: string) => Promise<Outcome>,
): Promise<Outcome> {
  return whenFree(async () => {
    await using copy = await copyRepository();
    for (const [file, text] of plants.flatMap((one) => Object.entries(one.files))) {
      await mkdir(dirname(join(copy.path, file)), { recursive: true });
      await writeFile(join(copy.path, file), text);
    }
    return await run(copy.path);
  });
}

/** package.json with more in its tables than it has. */
async function packageWith(more: Record<string, object>): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const manifest: Record<string, object> = JSON.parse(text);
  for (const [table, entries] of Object.entries(more)) {
    manifest[table] = { ...manifest[table], ...entries };
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
