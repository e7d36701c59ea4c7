import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { blocksOf, readPage } from './markdown.ts';

const page = 'docs/architecture.md';
const linesOf = (text: string) => text.split('\n').map((line) => line.trim());
const read = (file: string) => linesOf(readFileSync(join(repository, file), 'utf8'));

describe(page, () => {
  it('mentions only files and folders that exist', () => {
    const names = [...readPage(page).matchAll(/`((?:src|scripts|test)\/[\w./-]+)`/g)];
    const missing = names
      .map(([, name = '']) => name)
      .filter((name) => !existsSync(join(repository, name)));
    expect(names.length).to.be.above(20);
    expect(missing).to.deep.equal([]);
  });

  it('quotes the ports exactly', () => {
    const ports = globSync('src/ports/*.ts', { cwd: repository }).flatMap(read);
    // The block is marked `typescript`, not `ts`, because it cannot be run.
    const [shown] = blocksOf(page, 'typescript');
    const strange = linesOf(shown?.text ?? 'nothing').filter(
      (line) => !ports.includes(line) && line !== '',
    );
    expect(strange).to.deep.equal([]);
  });

  it('shows diffs that match the files', () => {
    const diffs = blocksOf(page, 'diff').flatMap(({ text }) => text.split(/^--- /m).slice(1));
    const strange = diffs.flatMap((diff) => {
      const [file = '', ...lines] = diff.trimEnd().split('\n');
      const context = lines.filter((line) => !line.startsWith('+'));
      const there = read(file);
      return context
        .filter((line) => !there.includes(line.trim()))
        .map((line) => `${file}: ${line}`);
    });
    expect(diffs).to.have.length.above(5);
    expect(strange).to.deep.equal([]);
  });

  it('copies the core into a project where it compiles and passes the contract suite', async function () {
    this.timeout(120_000);
    const [commands, suite] = ['sh', 'ts'].map((language) => blocksOf(page, language)[0]?.text);
    await using folder = await temporaryDirectory();
    const notes = join(folder.path, 'notes');
    mkdirSync(notes);
    writeFileSync(join(notes, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(repository, 'node_modules'), join(notes, 'node_modules'));
    // In place of npm: the packages of this clone.
    const script = `npm() { :; }\nset -e\n${commands}`.replaceAll('../notes', notes);
    const copied = await outcomeOf(start('bash', ['-c', script], { cwd: repository }));
    expect(copied.code, copied.output).to.equal(0);
    const config = join(notes, 'tsconfig.json');
    const references =
      '"references": [{ "path": "./src/tsconfig.core.json" }, { "path": "./src" }]';
    const text = readFileSync(config, 'utf8').replace(/"references": \[.*?\]/s, references);
    writeFileSync(config, text);
    writeFileSync(join(notes, 'test', 'memory.test.ts'), suite ?? '');
    const bin = (name: string) => join('node_modules', '.bin', name);
    for (const [name, args] of [
      ['tsc', ['-b']],
      ['mocha', ['--timeout', '30000', 'test/memory.test.ts']],
    ] as const) {
      const { code, output } = await outcomeOf(start(bin(name), [...args], { cwd: notes }));
      expect(code, output).to.equal(0);
    }
  });

  it('fits on 200 lines', () => {
    expect(linesOf(readPage(page)).length).to.be.at.most(201);
  });
});
