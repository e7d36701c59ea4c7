// Every example of the documentation, run.

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type Server, startServer } from '../support/server.ts';
import { runSteps, stepsOf } from './console.ts';
import { type Block, blocksOf, root, shown } from './markdown.ts';

const run = promisify(execFile);
/** Inside the package, so that `rostrum` is the package itself, as it is built. */
const folder = join(root, '.cache', 'examples');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Commands for a shell that other tests run, in the way that the note says. */
const shellExamples = new Map([
  ['npm ci && npm start', 'test/main.test.ts starts the program by npm start'],
  ['npm cit', 'this is it'],
  [
    'npm i rostrum koa @koa/router koa-bodyparser inversify reflect-metadata pino && npx rostrum',
    'test/package.test.ts runs the program of the packed package with its peers',
  ],
  [
    "npm start -- --store 'mongodb://db1,db2,db3/rostrum?replicaSet=rs0'",
    'test/adapters/mongodb, test/main.test.ts',
  ],
]);

interface Example {
  readonly name: string;
  readonly code: string;
  /** What it prints, when the page says so. */
  readonly output?: Block | undefined;
}

function examplesOf(page: string): Example[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block, i) => {
    if (block.language !== 'ts') return [];
    const next = blocks[i + 1];
    const output = next?.language === 'text' ? next : undefined;
    return [{ name: `${page.replaceAll('/', '-')}-${block.line}`, code: block.text, output }];
  });
}

const readme = examplesOf('README.md');
const store: Example = {
  name: 'writing-a-store',
  code: examplesOf('docs/writing-a-store.md')
    .map(({ code }) => code)
    .join('\n'),
};

describe('the examples of the documentation', () => {
  before(async function () {
    this.timeout(60_000);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { name, code } of [...readme, store]) {
      writeFileSync(join(folder, `${name}.ts`), code);
    }
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { composite: false, noEmit: true, types: ['node', 'mocha'] },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await run(process.execPath, [tsc, '-b', join(root, 'src')]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('compile', async function () {
    this.timeout(60_000);
    const checked = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error);
    expect(checked.stdout).to.equal('');
  });

  for (const { name, output } of readme) {
    it(`${name} runs${output ? ' and prints what the page says' : ''}`, async function () {
      this.timeout(20_000);
      const { stdout } = await run(process.execPath, [join(folder, `${name}.ts`)], { cwd: folder });
      if (output !== undefined) expect(stdout).to.match(shown(output.text));
    });
  }

  it('docs/writing-a-store.md makes a store that passes the contract suite', async function () {
    this.timeout(60_000);
    const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
    const file = join(folder, `${store.name}.ts`);
    const args = [mocha, '--no-config', '--reporter', 'dot', file];
    const { stdout } = await run(process.execPath, args, { cwd: root }).catch((error) => error);
    expect(stdout).to.match(/\d{2,} passing/);
    expect(stdout).to.not.match(/failing|pending/);
  });

  it('leave no command for a shell without a test', () => {
    const shell = blocksOf('README.md').filter(({ language }) => language === 'sh');
    expect(shell.map(({ text }) => text.trim())).to.have.members([...shellExamples.keys()]);
  });

  for (const page of ['README.md', 'docs/http.md']) {
    describe(`the console of ${page}`, () => {
      const steps = blocksOf(page)
        .filter(({ language }) => language === 'console')
        .flatMap(stepsOf);
      let server: Server;
      let outputs: string[];

      before(async function () {
        this.timeout(20_000);
        server = await startServer('--store', 'memory:');
        outputs = await runSteps(steps, server.address);
      });

      after(() => server.stop());

      for (const [i, { command, expected, line }] of steps.entries()) {
        it(`line ${line}: ${command.slice(0, 60)}`, () => {
          expect(outputs[i]).to.match(shown(expected));
        });
      }
    });
  }
});
