import { existsSync, globSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { repository } from '../support/repository-copy.ts';
import { readPage } from './markdown.ts';

/** Returns the anchors of a page: those that GitHub derives from headings, and explicit ones. */
function anchorsOf(page: string): Set<string> {
  const text = readPage(page);
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const ids = Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id);
  return new Set([...headings, ...ids]);
}

describe('the links in the documentation', () => {
  for (const page of globSync(['*.md', 'docs/*.md'], { cwd: repository })) {
    it(`have existing targets: ${page}`, () => {
      const links = [...readPage(page).matchAll(/\]\(([^)#\s]*)(?:#([^)]+))?\)/g)];
      const missing = links.filter(([, file = '', anchor]) => {
        if (/^[a-z]+:/.test(file)) return false;
        const target = file === '' ? page : posix.join(posix.dirname(page), file);
        if (!existsSync(posix.join(repository, target))) return true;
        return anchor !== undefined && !anchorsOf(target).has(anchor);
      });
      expect(missing.map(([link]) => link)).to.deep.equal([]);
    });
  }
});
