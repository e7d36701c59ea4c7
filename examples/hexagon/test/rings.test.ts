import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const useCases = /\/(notes|owners)\.ts$/;

it('imports only point inwards', () => {
  for (const file of globSync('src/{domain,ports,adapters/!(inversify)}/*.ts'))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import) '(.+)'/g)) {
      const isAdapter = file.includes('adapters');
      if (isAdapter && !name.startsWith('.')) continue;
      expect(name, file).to.match(/^(\.|(\.\.\/)+(domain|ports))\//);
      if (!isAdapter) expect(name, file).to.not.match(useCases);
    }
});
