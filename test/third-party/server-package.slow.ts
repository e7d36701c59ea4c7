import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { packAll } from '../../scripts/release/tarballs.ts';
import { node, npm, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';

// Tests the bundle as users install it. `npm run release` also runs the tests of the program against it.

describe('rostrum-server', function () {
  this.timeout(120_000);
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let modules: string;
  let tarballs: string[];
  let packed: string[];

  before(async () => {
    directory = await temporaryDirectory();
    tarballs = await packAll(join(directory.path, 'tarballs'));
    await writeFile(join(directory.path, 'package.json'), '{ "private": true }');
    packed = tarballs.filter((path) => path.includes('rostrum-server'));
    // Offline and with an empty cache: everything must be in the tarball.
    const options = [
      '--offline',
      '--no-audit',
      '--no-fund',
      '--cache',
      join(directory.path, 'npm'),
    ];
    const { code, output } = await npm(['install', ...options, ...packed], { cwd: directory.path });
    expect(code, output).to.equal(0);
    modules = join(directory.path, 'node_modules');
  });
  after(() => directory?.[Symbol.asyncDispose]());

  it('is one package without dependencies and install scripts', async () => {
    const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
    expect(names).to.deep.equal(['rostrum-server']);
    const manifest = JSON.parse(
      await readFile(join(modules, 'rostrum-server/package.json'), 'utf8'),
    );
    expect(manifest).not.to.have.any.keys('dependencies', 'scripts', 'private');
  });

  it('contains the licences of what it contains', async () => {
    const file = join(modules, 'rostrum-server', 'THIRD-PARTY-LICENCES.txt');
    const text = await readFile(file, 'utf8');
    for (const name of ['koa', 'mongodb', 'bson', 'inversify', 'lit-html', 'swagger-ui-dist']) {
      expect(text).to.match(
        new RegExp(`^${name} \\d[\\w.]+ \\((MIT|ISC|Apache-2.0|BSD-3-Clause)\\)$`, 'm'),
      );
    }
    // The first line of the file in the pages refers to these texts.
    const bundled = await readFile(
      join(modules, 'rostrum-server/pages/docs/swagger-ui-bundle.js'),
      'utf8',
    );
    expect(bundled).to.match(
      /^\/\*! For license information please see swagger-ui-bundle\.js\.LICENSE/,
    );
    expect(text).to.match(/^swagger-ui-bundle\.js\.LICENSE\.txt$[\s\S]+Jed Watson/m);
    const names = text.match(/^\S+ \d\S+ \([\w. -]+\)$/gm) ?? [];
    expect(names).to.deep.equal([...new Set(names)]);
    for (const part of text.split(/^-{80}$/m)) {
      expect(part).to.match(/permission|redistribution|apache license/i);
    }
  });

  it('is packed with its licence, as the other packages are', async () => {
    expect(tarballs.length).to.equal(5);
    for (const tarball of tarballs) {
      // GNU's tar takes C: for the name of a host.
      const args = ['-tzf', basename(tarball)];
      const { code, output } = await outcomeOf(start('tar', args, { cwd: dirname(tarball) }));
      expect(code, output).to.equal(0);
      expect(output.split(/\r?\n/), tarball).to.include('package/LICENSE');
    }
  });

  it('names its own command in messages, and no file of its user in stack traces', async () => {
    const main = join(modules, 'rostrum-server', 'dist', 'main.js');
    const said = async (...args: string[]) => {
      return (await node([main, ...args], { cwd: directory.path })).output;
    };
    expect(await said('--help')).to.match(/^Usage: rostrum-server \[options\]/);
    expect(await said('--auth-keys', 'none')).to.contain('with rostrum-server key create.');
    const { sourceRoot, sources } = JSON.parse(await readFile(`${main}.map`, 'utf8'));
    expect(new URL(sourceRoot + sources[0]).href).to.equal('rostrum:///src/main.ts');
  });

  it('serves the API and all pages, and reads slow lists in a worker thread', async () => {
    const notice = `process.on('worker', () => console.log('a worker'))`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(notice)}`];
    const main = join(modules, 'rostrum-server', 'dist', 'main.js');
    const server = start(process.execPath, [...args, main], { cwd: directory.path });
    const lines = createInterface({ input: server.stdout });
    const [line] = await once(lines, 'line');
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    const admin = ['', '/admin.js', '/admin.css', '/client/index.js', '/lit-html/lit-html.js'];
    const docs = ['', '/swagger-ui.css', '/swagger-ui-bundle.js'];
    const pages = [...admin.map((path) => `/admin${path}`), ...docs.map((path) => `/docs${path}`)];
    for (const path of ['/', '/openapi.json', ...pages]) {
      const response = await fetch(address + path);
      expect(response.status, path).to.equal(200);
      expect((await response.text()).length, path).to.be.above(100);
    }
    const counted = once(lines, 'line');
    expect((await fetch(`${address}/api/v1/users?count=exact`)).status).to.equal(200);
    expect(await counted).to.deep.equal(['a worker']);
    expect(await readdir(join(directory.path, 'data'))).to.include('rostrum.db');
  });

  it('runs as the steps of the Dockerfile set it up', async function () {
    const script = join(repository, 'scripts/release/rehearse-image.ts');
    const { code, output } = await node([script, ...packed]);
    if (output.includes('not rehearsed')) return this.skip();
    expect(code, output).to.equal(0);
    expect(Number(/served from there: (\S+) MB/.exec(output)?.[1])).to.be.below(10);
  });
});
