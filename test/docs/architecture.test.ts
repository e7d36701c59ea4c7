import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { repository } from '../support/repository-copy.ts';
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
        .filter((line) => !there.includes(line.replace(/^-/, '').trim()))
        .map((line) => `${file}: ${line}`);
    });
    expect(diffs).to.have.length.above(5);
    expect(strange).to.deep.equal([]);
  });

  it('fits on 200 lines', () => {
    expect(linesOf(readPage(page)).length).to.be.at.most(201);
  });
});
