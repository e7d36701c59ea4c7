import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readPage, root } from './markdown.ts';

const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
];

describe('the links of the documentation', () => {
  for (const page of pages) {
    it(`lead somewhere: ${page}`, () => {
      const links = [...readPage(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(
        ([, link]) => link ?? '',
      );
      const files = links.filter((link) => !/^[a-z]+:/.test(link));
      const missing = files.filter((file) => !existsSync(join(root, dirname(page), file)));
      expect(missing).to.deep.equal([]);
    });
  }
});
