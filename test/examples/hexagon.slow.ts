import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  globSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'chai';
import example from '../../examples/hexagon/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { blocksOf } from '../docs/markdown.ts';
import { freePort } from '../support/free-port.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { describeOnMongodb, sharedServer } from '../support/mongod/shared.ts';
import { type Child, npm, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { until } from '../support/until.ts';

const folder = join(repository, 'examples', 'hexagon');
const page = 'examples/hexagon/README.md';
const files = globSync('{src,test}/**/*.ts', { cwd: folder }).map((file) =>
  file.replaceAll('\\', '/'),
);
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** Copies the example, and lends it the packages of the repository. */
async function copyExample(): Promise<AsyncDisposable & { readonly path: string }> {
  const copy = await temporaryDirectory();
  const isOwn = (source: string) =>
    !/node_modules|package-lock|\.db/.test(source.slice(folder.length));
  cpSync(folder, copy.path, { recursive: true, filter: isOwn });
  symlinkSync(join(repository, 'node_modules'), join(copy.path, 'node_modules'), 'junction');
  return copy;
}

/** Waits for the program to listen. */
async function serving(program: Child): Promise<void> {
  let said = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const isOver = () => program.exitCode !== null;
  await until(() => said.includes('Serving http://') || isOver(), 'the server listens', 30_000);
  expect(isOver(), said).to.equal(false);
}

describe('the hexagon example', () => {
  it('is small', () => {
    const lines = (pattern: RegExp) =>
      files
        .filter((file) => pattern.test(file))
        .reduce((sum, file) => sum + read(file).split('\n').length - 1, 0);
    expect(lines(/./)).to.be.within(500, 1000);
    expect(lines(/adapters\/memory/)).to.be.within(1, 80);
    expect(lines(/adapters\/sqlite/)).to.be.within(1, 130);
    expect(lines(/adapters\/mongodb/)).to.be.within(1, 150);
  });

  it('has the versions of the repository, and imports no other packages', () => {
    const versions: Record<string, string> = { ...manifest.devDependencies };
    const own: Record<string, string> = { ...example.dependencies, ...example.devDependencies };
    for (const [name, version] of Object.entries(own))
      expect(versions[name], name).to.equal(version);
    expect(example.engines).to.deep.equal(manifest.engines);
    const imported = files.flatMap((file) =>
      Array.from(read(file).matchAll(/ from '([^.'][^']*)'/g), ([, name = '']) => name),
    );
    const strange = imported.filter((name) => !name.startsWith('node:') && !(name in own));
    expect(strange).to.deep.equal([]);
  });

  it('runs the commands of its README', async function () {
    this.timeout(60_000);
    await using copy = await copyExample();
    const [install, commands = ''] = blocksOf(page, 'sh').map(({ text }) => text);
    expect(install).to.equal('npm install\nnpm test\nnpm start\n');
    const port = await freePort();
    const server = start('npm', ['start'], { cwd: copy.path, env: { PORT: String(port) } });
    await serving(server);
    const script = `set -e\n${commands.replace(':3000', `:${port}`)}`;
    const { code, output } = await outcomeOf(start('bash', ['-c', script], { cwd: copy.path }));
    expect(code, output).to.equal(0);
    // Without `^`: curl's progress can come before it on the same line.
    expect(output).to.match(/HTTP\/1\.1 200 OK\r\n[\s\S]*^ETag: "2"\r\n/m);
    expect(output).to.match(/\{"items":\[\{"id":"[^"]+","version":2,.*"pinned":true\}\]\}$/m);
  });
});

await describeOnMongodb('the hexagon example, in an empty folder', () => {
  async function testAll(cwd: string, count = 35): Promise<void> {
    const url = (await sharedServer()).url('hexagon');
    const env = { CI: 'true', MONGODB_TEST_URI: url };
    const { code, output } = await npm(['test'], { cwd, env });
    expect(code, output).to.equal(0);
    expect(output).to.match(/the MongoDB store\n/);
    expect(output).to.not.match(/ pending/);
    expect(Number(/(\d+) passing/.exec(output)?.[1])).to.be.at.least(count);
  }

  it('runs on a MongoDB that is started as its README says', async function () {
    this.timeout(120_000);
    const binary = await findMongod();
    if (binary === undefined) return this.skip();
    await using copy = await copyExample();
    const port = await freePort();
    const env = { PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` };
    const run = (command: string) => start('bash', ['-ec', command], { cwd: copy.path, env });
    const commands = blocksOf(page, 'sh').map(({ text }) => text.trimEnd());
    const [serve, initiate, programs = ''] = commands.slice(2);
    const mongod = run(`${serve} --port ${port}`);
    mongod.stdout.resume();
    const { code, output } = await outcomeOf(run(`${initiate}`.replace(':27017', `:${port}`)));
    expect(code, output).to.equal(0);
    const [program = ''] = /^STORE='mongodb.*$/m.exec(programs) ?? [];
    await serving(run(program.replace('127.0.0.1', `127.0.0.1:${port}`)));
    // It would write to the copy while that is deleted.
    process.kill(-Number(mongod.pid), 'SIGKILL');
    await once(mongod, 'close');
  });

  it('compiles, and passes its tests on three stores', async function () {
    this.timeout(120_000);
    await using copy = await copyExample();
    const [move, swap] = blocksOf(page, 'ts').map(({ text }) => text);
    expect(read('src/use-cases/notes.ts').replace(/^ +/gm, '')).to.contain(
      `${move}`.replace(/^ +/gm, ''),
    );
    writeFileSync(join(copy.path, 'test', 'parts.test.ts'), partsTest(`${swap}`));
    await testAll(copy.path);
  });

  it('still does after each change that its README shows', async function () {
    this.timeout(120_000);
    await using copy = await copyExample();
    for (const part of ['+  readonly color', '+async function checkTitle', '-  readonly quota']) {
      applyDiff(copy.path, diffWith(part));
      await testAll(copy.path);
    }
    expect(readFileSync(join(copy.path, 'src/domain/note.ts'), 'utf8')).to.match(/color: string/);
    expect(readFileSync(join(copy.path, 'src/domain/owner.ts'), 'utf8')).to.not.match(/quota/);
  });

  it('still does with one kind of record', async function () {
    this.timeout(120_000);
    await using copy = await copyExample();
    applyDiff(copy.path, diffWith('-export function createApp'));
    const command = blocksOf(page, 'sh').at(-1)?.text ?? '';
    const deleted = await outcomeOf(start('bash', ['-ec', command], { cwd: copy.path }));
    expect(deleted.code, deleted.output).to.equal(0);
    const left = globSync('{src,test}/**/*.ts', { cwd: copy.path });
    expect(
      left.filter((file) => /note/i.test(readFileSync(join(copy.path, file), 'utf8'))),
    ).to.deep.equal([]);
    await testAll(copy.path, 20);
  });

  it('still does after its records are renamed', async function () {
    this.timeout(120_000);
    await using copy = await copyExample();
    const rename = blocksOf(page, 'sh').find(({ text }) => text.startsWith('perl'))?.text ?? '';
    const renamed = await outcomeOf(start('bash', ['-ec', rename], { cwd: copy.path }));
    expect(renamed.code, renamed.output).to.equal(0);
    const left = globSync(['README.md', '{src,test}/**/*.ts'], { cwd: copy.path })
      .flatMap((file) => readFileSync(join(copy.path, file), 'utf8').split('\n').concat(file))
      .filter((line) => /note|owner|\ban cook/i.test(line) && !line.includes('s/note/'));
    expect(left).to.deep.equal([]);
    const [list] = blocksOf(page, 'typescript');
    appendFileSync(join(copy.path, 'src', 'domain', 'rules.ts'), list?.text ?? '');
    applyDiff(
      copy.path,
      diffWith('+async function checkTitle')
        .replaceAll('note', 'recipe')
        .replaceAll('Note', 'Recipe')
        .replaceAll('owner', 'cook')
        .replaceAll('Owner', 'Cook'),
    );
    await testAll(copy.path);
  });

  it('fails without MongoDB in CI', async function () {
    this.timeout(120_000);
    await using copy = await copyExample();
    const env = { CI: 'true', MONGODB_TEST_URI: '' };
    const { code, output } = await npm(['test'], { cwd: copy.path, env });
    expect(code).to.not.equal(0);
    expect(output).to.match(/1 failing[\s\S]*set MONGODB_TEST_URI/);
    const outside = await npm(['test'], { cwd: copy.path, env: { ...env, CI: '' } });
    expect(outside.code, outside.output).to.equal(0);
    expect(outside.output).to.match(/- the MongoDB store: set MONGODB_TEST_URI/);
  });
});

const diffWith = (part: string): string =>
  blocksOf(page, 'diff').find(({ text }) => text.includes(part))?.text ?? '';

/** A test around the part of a program that replaces the store. */
const partsTest = (swap: string) => `
  import { expect } from 'chai';
  import { createContainer, tokens } from '../src/adapters/inversify/container.ts';
  import { createMemoryStore } from '../src/adapters/memory/memory-store.ts';
  it('replaces the store', async () => {
    const store = createMemoryStore();
    ${swap}
    expect(await container.getAsync(tokens.store)).to.equal(store);
  });`;

/** Applies a diff without line numbers: each line that stays or goes is the next one like it in the file. */
function applyDiff(cwd: string, diff: string): void {
  for (const part of diff.split(/^--- /m).slice(1)) {
    const [file = '', ...changes] = part.trimEnd().split('\n');
    const path = join(cwd, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    let next = 0;
    for (const change of changes) {
      const line = change.slice(1);
      if (change.startsWith('+')) {
        lines.splice(next++, 0, line);
        continue;
      }
      const found = lines.indexOf(line, next);
      if (found === -1) throw new Error(`${file} has no further line "${line}".`);
      if (change.startsWith('-')) lines.splice(found, 1);
      next = change.startsWith('-') ? found : found + 1;
    }
    writeFileSync(path, lines.join('\n'));
  }
}
