// Copies the templates from the examples into this package. Runs before the package is packed.

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const examples = join(import.meta.dirname, '../../examples');
const templates = join(import.meta.dirname, 'templates');

/** @param {string} path */
const readManifest = (path) => JSON.parse(readFileSync(join(import.meta.dirname, path), 'utf8'));

const root = readManifest('../../package.json');

/** The packages of Rostrum that the blog uses, and the peers that its commands `import` and `backup` need. */
const packages = {
  rostrum: root.version,
  'rostrum-admin': readManifest('../rostrum-admin/package.json').version,
  'rostrum-client': readManifest('../rostrum-client/package.json').version,
};
for (const peer of ['commander', 'csv-parse', 'inversify', 'pino', 'reflect-metadata']) {
  packages[peer] = root.devDependencies[peer];
}

rmSync(templates, { recursive: true, force: true });
for (const [template, example] of [
  ['blog', 'accounts'],
  ['hexagon', 'hexagon'],
]) {
  const folder = join(templates, template);
  cpSync(join(examples, example), folder, {
    recursive: true,
    filter: (path) =>
      !/[\\/](node_modules|dist|data|package-lock\.json|\.gitignore|.*\.db)$/.test(path),
  });
  // npm does not pack a file that is called .gitignore.
  writeFileSync(join(folder, 'gitignore'), 'node_modules/\ndist/\ndata/\n*.db*\n');
}

// These refer to the repository, and nothing in the blog needs them.
for (const file of ['tsconfig.json', 'page/tsconfig.json']) rmSync(join(templates, 'blog', file));

// The blog searches with files of another example.
for (const file of ['search-index.ts', 'sqlite-search.ts', 'words.ts']) {
  cpSync(join(examples, 'followers', file), join(templates, 'blog', file));
}
const search = join(templates, 'blog', 'search.ts');
writeFileSync(search, readFileSync(search, 'utf8').replaceAll('../followers/', './'));

// In the repository the blog runs on the sources beside it; a copy runs on the packages.
const path = join(templates, 'blog', 'package.json');
const blog = JSON.parse(readFileSync(path, 'utf8'));
blog.dependencies = { ...blog.dependencies, ...packages };
for (const [name, script] of Object.entries(blog.scripts)) {
  blog.scripts[name] = script
    .replace('node ../install.mjs && ', '')
    .replaceAll('--import ../sources.mjs ', '')
    .replace(/ --alias:rostrum-client=\S+/, '');
}
writeFileSync(path, `${JSON.stringify(blog, null, 2)}\n`);

// A copy finds the documentation in the package rostrum.
const readme = join(templates, 'blog', 'README.md');
const text = readFileSync(readme, 'utf8');
writeFileSync(readme, text.replaceAll('](../../docs/', '](node_modules/rostrum/docs/'));
