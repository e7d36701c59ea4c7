import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { outcomeOf, start } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';

describe('the Docker image', () => {
  it('is built from all files of the repository', async () => {
    const lines = readFileSync(join(repository, '.dockerignore'), 'utf8').split('\n');
    const ignored = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const patterns = ignored.flatMap((line) => [`:(glob)${line}`, `:(glob)${line}/**`]);
    const files = start('git', ['ls-files', '--', ...patterns], { cwd: repository });
    expect(await outcomeOf(files)).to.deep.include({ code: 0, output: '' });
  });
});
