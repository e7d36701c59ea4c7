import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { node } from '../../../test/support/process.ts';
import { repository, temporaryDirectory } from '../../../test/support/repository-copy.ts';

const home = join(repository, 'packages', 'create-rostrum');
const filesIn = (folder: string, pattern = '**/*.{ts,json,md,html,css}') =>
  globSync(pattern, { cwd: folder, exclude: ['**/node_modules/**', '**/dist/**'] }).sort();

describe('npm create rostrum', () => {
  const scope = new AsyncDisposableStack();
  let folder = '';
  before(async () => {
    folder = scope.use(await temporaryDirectory()).path;
    const { code, output } = await node([join(home, 'templates.js')]);
    expect(code, output).to.equal(0);
  });
  after(() => scope.disposeAsync());
  const create = (...args: string[]) =>
    node([join(home, 'create.js'), '--no-install', ...args], { cwd: folder });

  it('copies the hexagon', async () => {
    const { code, output } = await create('hexagon', 'My App');
    expect(code, output).to.equal(0);
    expect(output).to.match(/cd (['"])My App\1\n {2}npm install\n {2}npm start/);
    const example = join(repository, 'examples', 'hexagon');
    const copy = join(folder, 'My App');
    expect(filesIn(copy)).to.deep.equal(filesIn(example));
    for (const file of filesIn(copy, '**/*.{ts,md}')) {
      const text = readFileSync(join(copy, file), 'utf8');
      expect(text, file).to.equal(readFileSync(join(example, file), 'utf8'));
    }
    const manifest = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
    expect(manifest).to.include({ name: 'my-app', private: true });
    expect(readFileSync(join(copy, '.gitignore'), 'utf8')).to.include('node_modules/');
  });

  it('names the package after the template if the folder has no letters or digits', async () => {
    for (const name of ['___', '日本']) {
      expect((await create('hexagon', name)).code).to.equal(0);
      const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
      expect(manifest.name).to.equal('my-hexagon');
    }
  });

  it('copies the blog, which then needs nothing outside of its folder', async () => {
    const { code, output } = await create('blog');
    expect(code, output).to.equal(0);
    const copy = join(folder, 'my-blog');
    const manifest = readFileSync(join(copy, 'package.json'), 'utf8');
    expect(manifest).to.not.include('../');
    expect(JSON.parse(manifest).dependencies).to.include.keys('rostrum', 'rostrum-client');
    for (const file of filesIn(copy, '**/*.ts')) {
      const up = '../'.repeat(file.split(/[\\/]/).length);
      expect(readFileSync(join(copy, file), 'utf8'), file).to.not.include(`'${up}`);
    }
    const readme = readFileSync(join(copy, 'README.md'), 'utf8');
    const links = Array.from(readme.matchAll(/\]\(([^)#]+)/g), ([, link = '']) => link);
    expect(links).to.include('node_modules/rostrum/docs/moving-in.md');
    for (const link of links.filter((one) => !one.startsWith('https:'))) {
      const [, packed] = link.split('node_modules/rostrum/');
      const target = packed ? join(repository, packed) : join(copy, link);
      expect(existsSync(target), link).to.equal(true);
      expect(target.startsWith(packed ? join(repository, 'docs') : copy), link).to.equal(true);
    }
  });

  it('takes rostrum from tarballs', async () => {
    const packages = join(folder, 'packages');
    mkdirSync(packages);
    const missing = await create('blog', 'without', '--packages', packages);
    expect(missing.code).to.equal(1);
    expect(missing.output).to.match(/has no rostrum-\d\S+\.tgz\.\n$/);
    const nowhere = await create('blog', 'without', '--packages', join(folder, 'nowhere'));
    expect(nowhere.code).to.equal(1);
    expect(nowhere.output).to.match(/^--packages: \S+nowhere is not a folder\.\n$/);
    expect(existsSync(join(folder, 'without'))).to.equal(false);
    for (const name of ['rostrum', 'rostrum-admin', 'rostrum-client']) {
      writeFileSync(join(packages, `${name}-0.1.0.tgz`), '');
    }
    const { code, output } = await create('blog', 'with', '--packages', packages);
    expect(code, output).to.equal(0);
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'with/package.json'), 'utf8'));
    expect(dependencies.rostrum).to.match(/^file:.*rostrum-0\.1\.0\.tgz$/);
    expect(dependencies.koa).to.match(/^\d/);
  });

  it('names --packages if npm cannot install the packages of Rostrum', async function () {
    this.timeout(30_000);
    // Nothing listens on port 1.
    const env = {
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(folder, 'empty-cache'),
    };
    for (const template of ['blog', 'hexagon']) {
      const args = [join(home, 'create.js'), template, `offline-${template}`];
      const { code, output } = await node(args, { cwd: folder, env });
      expect(code).to.equal(1);
      expect(output).to.contain('The files are there: run it again.');
      expect(output.includes('use --packages DIR')).to.equal(template === 'blog');
    }
  });

  for (const [what, args, message] of [
    ['an unknown template', ['shop'], /"shop" is not a template\. Templates are:\n {2}blog/],
    ['no template, if there is nobody to ask', [], /^Name a template\.\n\nUsage: npm create/],
    ['an unknown option', ['hexagon', '--force'], /'--force'[\s\S]*Usage: npm create/],
    ['a third argument', ['hexagon', 'a', 'b'], /^"b" is one argument too many\.\n\nUsage: /],
    ['a folder that is not empty', ['hexagon', '.'], / is not empty\.\n$/],
    ['a file in place of a folder', ['hexagon', 'file'], /file is not a folder\.\n$/],
  ] as const) {
    it(`rejects ${what}`, async () => {
      writeFileSync(join(folder, 'file'), '');
      const { code, output } = await create(...args);
      expect(code).to.equal(1);
      expect(output).to.match(message);
    });
  }
});
