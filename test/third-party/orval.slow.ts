import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openApiDocument } from '../../src/adapters/http/openapi/document.ts';
import { typeCheck } from '../support/packed.ts';
import { node } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';

describe('client generators', function () {
  this.timeout(60_000);

  it('orval generates TypeScript that compiles', async () => {
    await using folder = await temporaryDirectory();
    const document = openApiDocument({ posts: { slug: 'text' } }, {});
    await writeFile(join(folder.path, 'openapi.json'), JSON.stringify(document));
    const orval = join(import.meta.dirname, 'node_modules', 'orval', 'dist', 'bin', 'orval.mjs');
    const args = ['--input', 'openapi.json', '--output', 'api.ts', '--client', 'fetch'];
    const made = await node([orval, ...args], { cwd: folder.path });
    expect(made.code, made.output).to.equal(0);
    const source = `export * from '../api.ts';`;
    const options = { types: [], lib: ['es2022', 'dom'], allowImportingTsExtensions: true };
    const { code, output } = await typeCheck('typescript', folder.path, source, options);
    expect(code, output).to.equal(0);
  });
});
