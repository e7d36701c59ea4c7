import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { blocksOf } from './markdown.ts';

const page = 'docs/architecture.md';

describe('a core of your own, in docs/architecture.md', () => {
  it('compiles and passes the contract suite in an empty project', async function () {
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
});
