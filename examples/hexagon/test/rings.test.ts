import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

it('imports only point inwards', () => {
  for (const file of globSync('src/{domain,ports,adapters/!(inversify)}/*.ts'))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import) '(.+)'/g)) {
      const isLibrary = file.includes('adapters') && !name.startsWith('.');
      if (!isLibrary) expect(name, file).to.match(/^(\.|(\.\.\/)+(domain|ports))\//);
    }
});
