import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import vm from 'node:vm';
import { expect } from 'chai';
import { build } from 'esbuild';
import manifest from '../../package.json' with { type: 'json' };
import client from '../../packages/rostrum-client/package.json' with { type: 'json' };
import * as clientLines from '../../packages/rostrum-client/test/support/declared-lines.ts';
import starter from '../../packages/rostrum-server/package.json' with { type: 'json' };
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { user } from '../cli/transfer/records.ts';
import * as libraryLines from '../support/declared-lines.ts';
import { type Installed, installPackage, typeCheck } from '../support/packed.ts';
import { node } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';
import { startProgram } from '../support/server.ts';

// Tests the package as users install it: from the tarball, with and without its peer dependencies.

const parts = ['./ports', './memory', './sqlite', './settings', './testing'];
const alone = ['.', ...parts];
const clients = ['rostrum-client', 'rostrum-client/react-admin', 'rostrum-client/refine'];
/** The subpaths that need peer dependencies, each with the one whose absence is reported. */
const onPeers = {
  './http': 'koa',
  './fetch': 'koa',
  './mcp': '@modelcontextprotocol/server',
  './mongodb': 'mongodb',
  './inversify': 'inversify',
  './opentelemetry': '@opentelemetry/api',
};

/** The subpath that only has types. */
const typesAlone = './import';

const compilers = ['typescript', 'typescript-5'] as const;

/** Returns the import specifier of a subpath. */
const specifier = (subpath: string) => `rostrum${subpath.slice(1)}`;

const importAll = (names: readonly string[]) =>
  [
    ...names.map((one, index) => `import * as part${index} from '${one}';`),
    `export const parts: readonly object[] = [${names.map((_, index) => `part${index}`)}];`,
    '',
  ].join('\n');

describe('the package', function () {
  this.timeout(120_000);

  let installed: Installed;
  before(async () => {
    installed = await installPackage();
  });
  after(() => installed?.[Symbol.asyncDispose]());

  const evaluate = (cwd: string, type: 'module' | 'commonjs', source: string) =>
    node([`--input-type=${type}`, '--eval', source], { cwd });

  it('installs no dependencies', async () => {
    const modules = await readdir(`${installed.alone}/node_modules`);
    expect(modules.filter((name) => !name.startsWith('.'))).to.deep.equal(['rostrum']);
    expect(installed.said).to.match(/added 1 package /);
    expect(manifest).not.to.have.any.keys('dependencies', 'optionalDependencies');
  });

  it('contains no tests, caches, source maps or other files', async () => {
    const files = await readdir(`${installed.alone}/node_modules/rostrum`, { recursive: true });
    const strangers = files.filter(
      (file) =>
        !/^((dist|docs)($|[\\/])|package\.json$|LICENSE$|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$)/.test(
          file,
        ) || /tsbuildinfo|\.test\.|\.map$/.test(file),
    );
    expect(strangers).to.deep.equal([]);
  });

  it('has exactly the subpaths that are tested below', () => {
    const names = [...alone, ...Object.keys(onPeers), typesAlone, './package.json'];
    expect(names).to.have.members(Object.keys(manifest.exports));
  });

  it('can be imported and required, with and without its peers', async () => {
    const all = [...alone, ...Object.keys(onPeers)];
    for (const [project, names] of [
      [installed.alone, alone.map(specifier)],
      [installed.withPeers, all.map(specifier)],
      [installed.withClient, clients],
    ] as const) {
      for (const [type, load] of [
        ['module', 'await import'],
        ['commonjs', 'require'],
      ] as const) {
        const source = names.map((one) => `${load}('${one}');`).join('\n');
        const { code, output } = await evaluate(project, type, source);
        expect([code, output]).to.deep.equal([0, '']);
      }
    }
  });

  for (const [subpath, missing] of Object.entries(onPeers)) {
    it(`fails with the name of the missing package on import of ${specifier(subpath)}`, async () => {
      const source = `await import('${specifier(subpath)}')`;
      const { code, output } = await evaluate(installed.alone, 'module', source);
      expect(code).to.equal(1);
      expect(output).to.match(
        new RegExp(`ERR_MODULE_NOT_FOUND[^]*'${missing}'|'${missing}'[^]*ERR_`),
      );
      expect(manifest.peerDependencies).to.have.property(missing);
    });
  }

  const program = (project: string, ...args: string[]) =>
    node(['node_modules/rostrum/dist/main.js', ...args], { cwd: project });

  it('has a program that prints in one sentence which packages to install', async () => {
    const cases = [
      [installed.alone, 'commander'],
      [installed.withCommander, '(@koa/)?\\w+'],
    ] as const;
    for (const [project, missing] of cases) {
      const { code, output } = await program(project, '--store', 'memory:');
      expect(code).to.equal(1);
      expect(output).to.match(
        new RegExp(
          `^The package (${missing}) is not installed: run \`npm i ${missing}\` [^\\n]+\\n$`,
        ),
      );
      expect(output).to.contain(
        '`npm i commander koa @koa/router koa-bodyparser koa-compose inversify reflect-metadata pino`',
      );
    }
  });

  it('has a program that prints only the name of a missing optional package', async () => {
    const project = installed.withCommander;
    const flags = ['--as', 'users', '--store', 'sqlite:imported.db'];
    await writeFile(join(project, 'users.csv'), 'name\nAda\n');
    const { code, output } = await program(project, 'import', 'users.csv', ...flags);
    expect([code, output.trimEnd().split('\n').at(-1)]).to.deep.equal([
      1,
      'The package csv-parse is not installed: run `npm i csv-parse`.',
    ]);
  });

  it('has a program that needs only commander for help, backups, imports, exports and copies', async () => {
    const [project, path] = [installed.withCommander, join(installed.withCommander, 'given.db')];
    const store = openSqliteStore({ path });
    await store.users.create(user(1));
    await store.close();
    for (const args of [
      ['--help'],
      ['backup', 'backup.db', '--store', `sqlite:${path}`],
      ['export', 'export.jsonl', '--store', `sqlite:${path}`],
      ['import', '--keep-ids', 'export.jsonl', '--store', 'sqlite:kept.db'],
      ['copy', '--from', `sqlite:${path}`, '--to', 'sqlite:copy.db'],
    ]) {
      const { code, output } = await program(project, ...args);
      expect(code, output).to.equal(0);
    }
  });

  it('has a program that serves with its peers', async () => {
    const main = `${installed.withPeers}/node_modules/rostrum/dist/main.js`;
    await using server = await startProgram(main, '--store', 'memory:');
    expect((await fetch(`${server.address}/api/v1/users`)).status).to.equal(200);
  });

  it('has a program that serves with the minimal packages in the documentation, without /docs', async () => {
    const lean = join(installed.alone, '..', 'lean');
    await cp(installed.alone, join(lean, 'project'), { recursive: true });
    await mkdir(join(lean, 'node_modules', '@koa'), { recursive: true });
    const operations = await readFile(join(repository, 'docs', 'operations.md'), 'utf8');
    const [, named = ''] = /^\| serve \| `(.*)` \|$/m.exec(operations) ?? [];
    for (const name of named.split(' ')) {
      const ours = join(repository, 'node_modules', name);
      await symlink(ours, join(lean, 'node_modules', name), 'junction');
    }
    const main = join(lean, 'project', 'node_modules', 'rostrum', 'dist', 'main.js');
    await using server = await startProgram(main, '--store', 'memory:');
    const home = await fetch(`${server.address}/`);
    expect(await home.json())
      .to.include({ status: 'ok' })
      .and.not.to.have.property('docs');
    const page = await fetch(`${server.address}/`, { headers: { Accept: 'text/html' } });
    expect(await page.text())
      .to.contain('/openapi.json')
      .and.not.contain('/docs');
    expect((await fetch(`${server.address}/docs`)).status).to.equal(404);
  });

  it('has a client without dependencies, whose subpaths are all tested here', async () => {
    const names = Object.keys(client.exports).map((name) => `rostrum-client${name.slice(1)}`);
    expect(names).to.have.members([...clients, 'rostrum-client/package.json']);
    expect(client.version).to.equal(manifest.version);
    expect(client).not.to.have.any.keys('dependencies', 'peerDependencies');
    const modules = await readdir(`${installed.withClient}/node_modules`);
    expect(modules.filter((name) => !name.startsWith('.'))).to.deep.equal(['rostrum-client']);
  });

  it('has a manifest of rostrum-server that lists every package the program can need', () => {
    const { '@types/koa': _types, ...peers } = manifest.peerDependencies;
    const { version, engines } = manifest;
    const dependencies = { ...peers, rostrum: version, 'rostrum-admin': version };
    expect(starter).to.deep.include({ version, engines, dependencies, private: true });
  });

  it('has a core that runs without Node', async () => {
    const contents = `
      import { createRostrum, isRostrumError } from 'rostrum';
      import { createMemoryStore } from 'rostrum/memory';
      export async function run() {
        const rostrum = createRostrum(createMemoryStore());
        const user = { name: 'Ada', email: 'ada@example.com' };
        const options = { idempotencyKey: 'k' };
        const { record } = await rostrum.users.create(user, options);
        const { replayed } = await rostrum.users.create(user, options);
        await rostrum.posts.create({ title: 'On engines', authorId: record.id });
        const error = await rostrum.users.create(user).catch((reason) => reason);
        const { items } = await rostrum.posts.list();
        const titles = items.map((item) => item.record.title);
        return JSON.stringify([replayed, isRostrumError(error, 'email-taken'), titles]);
      }`;
    const { outputFiles, warnings } = await build({
      stdin: { contents, resolveDir: installed.alone },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'bundle',
      write: false,
    });
    expect(warnings).to.deep.equal([]);
    // Only the language and the globals that the core is allowed to use (walls/platform.d.ts).
    const context = vm.createContext({ crypto: globalThis.crypto, TextEncoder });
    vm.runInContext(outputFiles[0]?.text ?? '', context);
    expect(vm.runInContext('[typeof process, typeof Buffer].join()', context)).to.equal(
      'undefined,undefined',
    );
    expect(JSON.parse(await vm.runInContext('bundle.run()', context))).to.deep.equal([
      true,
      true,
      ['On engines'],
    ]);
  });

  it('reads slow SQLite lists in a worker thread, or without one in a bundle', async () => {
    const contents = `
      import { createRostrum } from 'rostrum';
      import { openSqliteStore } from 'rostrum/sqlite';
      let workers = 0;
      process.on('worker', () => { workers += 1; });
      const store = openSqliteStore({ path: 'lists.db' });
      const rostrum = createRostrum(store);
      await rostrum.users.create({ name: 'Ada' });
      const { total } = await rostrum.users.list({ total: true });
      await store.close();
      console.log(total, workers);`;
    const cwd = installed.alone;
    const stdin = { contents, resolveDir: cwd };
    const outfile = join(cwd, 'bundle.mjs');
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile });
    expect((await evaluate(cwd, 'module', contents)).output).to.equal('1 1\n');
    expect((await node([outfile], { cwd })).output).to.equal('2 0\n');
  });

  for (const compiler of compilers) {
    it(`has types for ${compiler} that need no Node types`, async () => {
      const source = importAll([...alone, typesAlone].map(specifier));
      const { code, output } = await typeCheck(compiler, installed.alone, source, { types: [] });
      expect(code, output).to.equal(0);
    });

    for (const [what, project, { setup, right, wrong }] of [
      ['library', 'withPeers', libraryLines],
      ['client', 'withClient', clientLines],
    ] as const) {
      it(`types declared fields of the ${what} for ${compiler}, and explains a mistake in three lines`, async () => {
        const lines = [...right, ...wrong].map((line, n) => `export const line${n} = ${line};`);
        const source = [setup, ...lines].join('\n');
        const { output } = await typeCheck(compiler, installed[project], source, {
          types: [],
          skipLibCheck: true,
        });
        const errors = Map.groupBy(output.split(/\n(?=\S)/), (error) => {
          return Number(/consumer\.ts\((\d+),/.exec(error)?.[1]) - setup.split('\n').length - 1;
        });
        const found = [...errors.keys()].sort((a, b) => a - b);
        expect(found, output).to.deep.equal(wrong.map((_, n) => n + right.length));
        for (const [error = '', ...more] of errors.values()) {
          expect(more).to.deep.equal([]);
          expect(error.trim().split('\n'), error).to.have.length.at.most(3);
        }
      });
    }

    it(`has client types for ${compiler} that need no Node types`, async () => {
      const source = importAll(clients);
      const options = { types: [] };
      const { code, output } = await typeCheck(compiler, installed.withClient, source, options);
      expect(code, output).to.equal(0);
    });

    it(`has types for ${compiler} for the subpaths with peers`, async () => {
      const source = importAll(Object.keys(onPeers).map(specifier));
      const { code, output } = await typeCheck(compiler, installed.withPeers, source, {
        types: ['node'],
      });
      expect(code, output).to.equal(0);
    });
  }

  it('passes publint and attw, like the other packages', async () => {
    const script = join(repository, 'scripts', 'release', 'check.ts');
    const { code, output } = await node([script, ...installed.tarballs]);
    expect(code, output).to.equal(0);
  });

  it('has only optional peers, and is tested with allowed versions of them', () => {
    const optional: Record<string, { optional: boolean }> = manifest.peerDependenciesMeta;
    const developed: Record<string, string> = manifest.devDependencies;
    for (const [name, range] of Object.entries(manifest.peerDependencies)) {
      expect(optional[name], name).to.deep.equal({ optional: true });
      const [major] = range.replace(/^[\^~]/, '').split('.');
      expect(developed[name]?.split('.')[0], name).to.equal(major);
    }
  });
});

describe('scripts/node-guard.mjs', () => {
  const guarded = (...before: string[]) =>
    node([...before, '--import=./scripts/node-guard.mjs', '--eval', "console.log('started')"], {
      cwd: repository,
    });

  it('prints one sentence on an old Node, and starts nothing', async () => {
    const pretend = `
      Object.defineProperty(process, 'version', { value: 'v20.20.2' });
      const value = { ...process.versions, node: '20.20.2' };
      Object.defineProperty(process, 'versions', { value });`;
    const { code, output } = await guarded(
      `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
    );
    expect(code).to.equal(1);
    expect(output).to.match(
      /^Rostrum needs Node 22\.18 or newer and this is v20\.20\.2: [^\n]+ --omit=dev [^\n]+\.\n$/,
    );
  });

  it('accepts the Node versions of package.json', async () => {
    expect((await guarded()).output).to.equal('started\n');
    expect(manifest.engines.node).to.equal('>=22.18');
  });
});
