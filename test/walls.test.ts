import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { whenFree } from './support/parallel.ts';
import { node, npm, type Outcome } from './support/process.ts';
import { copyRepository } from './support/repository-copy.ts';

// Every wall of the house is held by a part of `npm run check`. Here each one is broken, in a copy
// of the repository, and the part that holds it has to say so, and where.

interface Plant {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** A part of the check, and what it has to say. */
  readonly caught: Readonly<Record<string, RegExp>>;
}

const inDomain = 'src/domain/planted.ts';
const inPorts = 'src/ports/planted.ts';
const inMemory = 'src/adapters/memory/planted.ts';
const inHttp = 'src/adapters/http/planted.ts';

/** What tsc says of a file, by the code of its error. */
const tsc = (file: string, code: string) => new RegExp(`${file}\\(\\d+,\\d+\\): error ${code}:`);
/** What scripts/walls.ts says of a file. */
const wall = (file: string, words: string) => new RegExp(`${file}:\\d+:\\d+ ${words}`);

const plants: readonly Plant[] = [
  {
    what: 'koa in the domain',
    files: { [inDomain]: "import Koa from 'koa';\nexport const planted = new Koa();\n" },
    caught: { types: tsc(inDomain, 'TS2306'), walls: wall(inDomain, 'domain may not import koa') },
  },
  {
    what: 'koa in the domain, for its side effects',
    files: { [inDomain]: "import 'koa';\n" },
    caught: { walls: wall(inDomain, 'domain may not import koa') },
  },
  {
    what: 'node:fs in the domain',
    files: { [inDomain]: "export { readFileSync } from 'node:fs';\n" },
    caught: {
      types: tsc(inDomain, 'TS2306'),
      walls: wall(inDomain, 'domain may not import node:fs'),
    },
  },
  {
    what: 'process in the domain',
    files: { [inDomain]: 'export const planted = process.env;\n' },
    caught: { types: tsc(inDomain, 'TS2591') },
  },
  {
    what: "process in the domain, by a reference to Node's types",
    files: {
      [inDomain]: '/// <reference types="node" />\nexport const planted = process.env;\n',
    },
    caught: { walls: wall(inDomain, 'domain may not reference node') },
  },
  {
    what: 'process in the domain, declared by hand',
    files: {
      [inDomain]: 'declare const process: { env: object };\nexport const planted = process.env;\n',
    },
    caught: { walls: wall(inDomain, 'domain may not declare') },
  },
  {
    what: 'inversify in the domain',
    files: { [inDomain]: "export const planted = () => import('inversify');\n" },
    caught: {
      types: tsc(inDomain, 'TS2306'),
      walls: wall(inDomain, 'domain may not import inversify'),
    },
  },
  {
    what: 'a type of mongodb in a port',
    files: { [inPorts]: "import type { Db } from 'mongodb';\nexport type Planted = Db;\n" },
    caught: { types: tsc(inPorts, 'TS2306'), walls: wall(inPorts, 'ports may not import mongodb') },
  },
  {
    what: 'a type of mongodb in a port, without an import statement',
    files: { [inPorts]: "export type Planted = import('mongodb').Db;\n" },
    caught: { types: tsc(inPorts, 'TS2306'), walls: wall(inPorts, 'ports may not import mongodb') },
  },
  {
    what: 'an adapter in the domain',
    files: {
      [inDomain]: "export { planted } from '../adapters/memory/planted.ts';\n",
      [inMemory]: 'export const planted = 1;\n',
    },
    caught: {
      types: tsc(inDomain, 'TS6307'),
      walls: wall(inDomain, 'domain may not import adapters/memory'),
    },
  },
  {
    what: 'one adapter importing another',
    files: {
      [inMemory]: "export { planted } from '../http/planted.ts';\n",
      [inHttp]: 'export const planted = 1;\n',
    },
    caught: { walls: wall(inMemory, 'adapters/memory may not import adapters/http') },
  },
  {
    what: 'a driver in http',
    files: { [inHttp]: "export { MongoClient } from 'mongodb';\n" },
    caught: { walls: wall(inHttp, 'adapters/http may not import mongodb') },
  },
  {
    what: 'a driver of Node in http',
    files: { [inHttp]: "export const planted = () => import('node:sqlite');\n" },
    caught: { walls: wall(inHttp, 'adapters/http may not import node:sqlite') },
  },
  {
    what: 'a decorator',
    files: {
      [inMemory]: [
        'const seal = (_class: unknown, _context: ClassDecoratorContext): void => {};',
        '@seal',
        'export class Planted {}',
        '',
      ].join('\n'),
    },
    caught: { walls: wall(inMemory, 'no decorators') },
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
  {
    what: 'an unused file',
    files: { [inDomain]: 'export {};\n' },
    caught: { unused: /Unused files[\s\S]*src\/domain\/planted\.ts/ },
  },
  {
    what: 'an unused export',
    files: {
      [inDomain]: 'export const used = 1;\nexport const planted = 2;\n',
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
  ...[inDomain, inMemory, 'test/planted.test.ts', 'scripts/planted.ts'].map((file) => ({
    what: `a type error in ${dirname(file)}`,
    files: { [file]: 'export const planted: string = 1;\n' },
    caught: { types: tsc(file, 'TS2322') },
  })),
  {
    what: 'an explicit any, and a file that is not formatted',
    files: { [inDomain]: 'export  const planted = (x: any): unknown => x;\n' },
    caught: { style: /planted\.ts:1:\d+ lint\/suspicious\/noExplicitAny[\s\S]*planted\.ts format/ },
  },
];

const parts = new Set(plants.flatMap(({ caught }) => Object.keys(caught)));

describe('the walls', function () {
  this.timeout(120_000);

  // All start at once, as many at a time as there are processors; each test waits for its own.
  let unplanted: Promise<Outcome>;
  let planted: readonly Promise<Outcome>[];
  before(() => {
    unplanted = check({}, (copy) => npm(['run', 'check'], { cwd: copy }));
    planted = plants.map(({ files, caught }) =>
      check(files, (copy) =>
        node(['scripts/check.ts', '--only', Object.keys(caught).join()], { cwd: copy }),
      ),
    );
    for (const outcome of [unplanted, ...planted]) outcome.catch(() => {}); // reported by its test
  });

  it('stand, by every part of `npm run check`', async () => {
    const { code, output } = await unplanted;
    expect(code, output).to.equal(0);
    for (const part of parts) expect(output).to.match(new RegExp(`^✓ ${part}: `, 'm'));
  });

  for (const [index, { what, caught }] of plants.entries()) {
    it(`hold against ${what} (${Object.keys(caught).join(', ')})`, async () => {
      const outcome = await planted[index];
      expect(outcome?.code, outcome?.output).to.equal(1);
      for (const [part, words] of Object.entries(caught)) {
        expect(outcome?.output).to.match(new RegExp(`^✗ ${part}: `, 'm'));
        expect(outcome?.output).to.match(words);
      }
    });
  }
});

function check(files: Plant['files'], run: (copy: string) => Promise<Outcome>): Promise<Outcome> {
  return whenFree(async () => {
    await using copy = await copyRepository();
    for (const [file, text] of Object.entries(files)) {
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
