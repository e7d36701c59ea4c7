import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blocksOf } from '../../../test/docs/markdown.ts';
import { node } from '../../../test/support/process.ts';
import { repository } from '../../../test/support/repository-copy.ts';
import { startApi } from './support/api.ts';

const home = join(import.meta.dirname, '..');
/** Inside the package, so that `rostrum-client` resolves to the built package itself. */
const folder = join(home, '.cache');
const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');

/** Each example in the page, with the output that the page shows. */
const examples = blocksOf('docs/client.md').flatMap(({ language, text, line }, i, blocks) =>
  language === 'ts' ? [{ line, text, output: blocks[i + 1]?.text }] : [],
);

describe('the examples in docs/client.md', function () {
  this.timeout(60_000);
  before(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    expect((await node([tsc, '-b', home], { cwd: home })).output).to.equal('');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { line, text, output } of examples) {
    it(`compile and print the output shown: line ${line}`, async () => {
      await using api = await startApi({ declaredFields: { users: { born: 'number' } } });
      const file = join(folder, `line-${line}.ts`);
      writeFileSync(file, text.replace('http://127.0.0.1:3000/api/v1', api.url));
      const lib = ['es2024', 'dom', 'dom.iterable'];
      const compilerOptions = { composite: false, noEmit: true, lib, types: [] };
      const config = { extends: '../../../tsconfig.json', compilerOptions, files: [file] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      expect((await node([tsc, '-p', folder], { cwd: folder })).output).to.equal('');
      expect(await node([file], { cwd: folder })).to.include({ stdout: output, stderr: '' });
    });
  }
});
