import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { repository } from './support/repository-copy.ts';

const files = globSync(
  ['package-lock.json', 'bench/package-lock.json', '{test,scripts,examples}/**/package-lock.json'],
  { cwd: repository, exclude: (name) => name.endsWith('node_modules') },
);

describe('the lock files', () => {
  it('name no package registry, so that npm uses the one that it is configured for', () => {
    expect(files).to.have.length.above(10);
    const named = files.filter((file) =>
      /"resolved": "\w+:/.test(readFileSync(join(repository, file), 'utf8')),
    );
    expect(named).to.deep.equal([]);
  });
});
