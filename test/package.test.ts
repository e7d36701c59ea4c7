import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import manifest from '../package.json' with { type: 'json' };
import { type Installed, installPackage, typeCheck } from './support/packed.ts';
import { node } from './support/process.ts';
import { repository } from './support/repository-copy.ts';
import { startProgram } from './support/server.ts';

// The package as its users get it: from the tarball, alone and with its peers.

const free = ['.', './ports', './memory', './sqlite', './testing'];
/** The parts that stand on a peer, and the packages that each of them asks for. */
const onPeers = {
  './http': ['koa', '@koa/router', 'koa-bodyparser'],
  './mongodb': ['mongodb'],
  './inversify': ['inversify', 'reflect-metadata'],
};

const compilers = ['typescript', 'typescript-5'] as const;

/** What an importer writes for a subpath. */
const specifier = (subpath: string) => `rostrum${subpath.slice(1)}`;

const importAll = (subpaths: readonly string[]) =>
  [
    ...subpaths.map((one, index) => `import * as part${index} from '${specifier(one)}';`),
    `export const parts: readonly object[] = [${subpaths.map((_, index) => `part${index}`)}];`,
    '',
  ].join('\n');

describe('the package', function () {
  this.timeout(120_000);

  let installed: Installed;
  before(async () => {
    installed = await installPackage();
  });
  after(() => installed?.[Symbol.asyncDispose]());

  const load = (project: string, subpath: string) =>
    node(['--input-type=module', '--eval', `await import('${specifier(subpath)}')`], {
      cwd: project,
    });

  it('installs nothing but itself', async () => {
    const modules = await readdir(`${installed.alone}/node_modules`);
    expect(modules.filter((name) => !name.startsWith('.'))).to.deep.equal(['rostrum']);
    expect(installed.said).to.match(/added 1 package /);
    expect(manifest).not.to.have.any.keys('dependencies', 'optionalDependencies');
  });

  it('ships no test, no cache and nothing of the outside', async () => {
    const files = await readdir(`${installed.alone}/node_modules/rostrum`, { recursive: true });
    const strangers = files.filter(
      (file) =>
        !/^((dist|docs)($|[\\/])|package\.json$|LICENSE$|(README|CHANGELOG|CONTRIBUTING)\.md$)/.test(
          file,
        ) || /tsbuildinfo|\.test\./.test(file),
    );
    expect(strangers).to.deep.equal([]);
  });

  it('has the parts that are loaded and typed below, and no others', () => {
    expect([...free, ...Object.keys(onPeers), './package.json']).to.have.members(
      Object.keys(manifest.exports),
    );
  });

  for (const subpath of free) {
    it(`loads ${specifier(subpath)} alone`, async () => {
      const { code, output } = await load(installed.alone, subpath);
      expect(code, output).to.equal(0);
      expect(output).to.equal('');
    });
  }

  for (const [subpath, packages] of Object.entries(onPeers)) {
    it(`loads ${specifier(subpath)} with its peers`, async () => {
      const { code, output } = await load(installed.withPeers, subpath);
      expect(code, output).to.equal(0);
      expect(output).to.equal('');
    });

    it(`says what to install when ${specifier(subpath)} misses its peers`, async () => {
      const { code, output } = await load(installed.alone, subpath);
      expect(code).to.equal(1);
      const sentence = /^\w*Error: (.*npm i .*)$/m.exec(output)?.[1];
      expect(sentence, output).to.be.a('string');
      expect(sentence).to.contain(specifier(subpath));
      const command = / `npm i ([^`]+)`/.exec(sentence ?? '')?.[1];
      expect(command?.split(' ')).to.have.members(packages);
      for (const name of packages) expect(manifest.peerDependencies).to.have.property(name);
    });
  }

  const program = (project: string, ...args: string[]) =>
    node(['node_modules/rostrum/dist/main.js', ...args], { cwd: project });

  it('has a program that says what it needs, and needs nothing to say how it is used', async () => {
    expect((await program(installed.alone, '--help')).output).to.match(/^Usage: rostrum/);
    const { code, output } = await program(installed.alone, '--store', 'memory:');
    expect(code).to.equal(1);
    const all = 'koa @koa/router koa-bodyparser inversify reflect-metadata pino';
    expect(output)
      .to.match(/^[^\n]+\n$/)
      .and.to.contain(`npm i ${all}`);
  });

  it('has a program that serves with its peers', async () => {
    const main = `${installed.withPeers}/node_modules/rostrum/dist/main.js`;
    await using server = await startProgram(main, '--store', 'memory:');
    expect((await fetch(`${server.address}/api/v1/users`)).status).to.equal(200);
  });

  for (const compiler of compilers) {
    it(`has types for ${compiler} alone, without Node's`, async () => {
      const source = importAll(free);
      const { code, output } = await typeCheck(compiler, installed.alone, source, { types: [] });
      expect(code, output).to.equal(0);
    });

    it(`has types for ${compiler} with its peers`, async () => {
      const source = importAll(Object.keys(onPeers));
      const { code, output } = await typeCheck(compiler, installed.withPeers, source, {
        types: ['node'],
      });
      expect(code, output).to.equal(0);
    });
  }

  it('has optional peers only, and tests with versions that it allows', () => {
    const optional: Record<string, { optional: boolean }> = manifest.peerDependenciesMeta;
    const developed: Record<string, string> = manifest.devDependencies;
    for (const [name, range] of Object.entries(manifest.peerDependencies)) {
      expect(optional[name], name).to.deep.equal({ optional: true });
      const [major] = range.replace(/^[\^~]/, '').split('.');
      expect(developed[name]?.split('.')[0], name).to.equal(major);
    }
  });
});

describe('the guard of the Node version', () => {
  it('says in one sentence what is missing, and starts nothing', async () => {
    const pretend = "Object.defineProperty(process, 'version', { value: 'v20.20.2' });";
    const versions =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });";
    const { code, output } = await node(
      [
        `--import=data:text/javascript,${encodeURIComponent(pretend + versions)}`,
        '--import=./scripts/node-guard.mjs',
        '--eval',
        "console.log('started')",
      ],
      { cwd: repository },
    );
    expect(code).to.equal(1);
    expect(output).to.match(
      /^Rostrum needs Node 22\.18 or newer and this is v20\.20\.2: [^\n]+\.\n$/,
    );
  });

  it('asks for the Node that package.json asks for', async () => {
    const { code } = await node(['--import=./scripts/node-guard.mjs', '--eval', ''], {
      cwd: repository,
    });
    expect(code).to.equal(0);
    expect(manifest.engines.node).to.equal('>=22.18');
  });
});
