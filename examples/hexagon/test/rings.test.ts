import { globSync, readFileSync } from 'node:fs';
import { posix, sep } from 'node:path';
import { expect } from 'chai';

/** What the files of each folder can import. */
const rings = {
  'src/domain/': /^src\/domain\//,
  'src/ports/': /^src\/(domain|ports)\//,
  'src/use-cases/': /^src\/(domain|ports|use-cases)\//,
  'src/adapters/http/': /^(src\/(domain|ports|use-cases|adapters\/http)\/|@?koa\b|node:http$)/,
  'src/adapters/memory/': /^src\/(domain|ports|adapters\/memory)\//,
  'src/adapters/mongodb/': /^(src\/(domain|ports|adapters\/mongodb)\/|mongodb$)/,
  'src/adapters/sqlite/': /^(src\/(domain|ports|adapters\/sqlite)\/|node:sqlite$)/,
  'src/adapters/inversify/': /^(src\/|(inversify|koa|node:crypto)$)/,
};
/** Every form of import, also of types, with any quotes. */
const imports = /\b(?:from|import|require)\s*\(?\s*(["'`])(.*?)\1/g;

it('imports only point inwards', () => {
  for (const file of globSync('src/*/**/*.ts').map((path) => path.replaceAll(sep, '/'))) {
    const [, allowed] = Object.entries(rings).find(([ring]) => file.startsWith(ring)) ?? [];
    expect(allowed, `the ring of ${file}`).to.be.a('RegExp');
    for (const [, , name = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
      const target = name.startsWith('.') ? posix.join(file, '..', name) : name;
      expect(target, file).to.match(allowed ?? /^$/);
    }
  }
});
