import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { repository } from '../support/repository-copy.ts';
import { readPage } from './markdown.ts';

describe('the links of the documentation', () => {
  for (const page of globSync(['*.md', 'docs/*.md'], { cwd: repository })) {
    it(`lead somewhere: ${page}`, () => {
      const links = [...readPage(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(
        ([, link = '']) => link,
      );
      const files = links.filter((link) => !/^[a-z]+:/.test(link));
      const missing = files.filter((file) => !existsSync(join(repository, dirname(page), file)));
      expect(missing).to.deep.equal([]);
    });
  }
});
