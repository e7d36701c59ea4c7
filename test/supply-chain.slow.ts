import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { node, type Outcome } from './support/process.ts';
import { copyRepository, repository, temporaryDirectory } from './support/repository-copy.ts';

describe('the licenses of production dependencies', function () {
  this.timeout(60_000);

  let copy: Awaited<ReturnType<typeof copyRepository>>;
  before(async () => {
    copy = await copyRepository();
  });
  after(() => copy[Symbol.asyncDispose]());

  /** Runs scripts/sbom.ts after changing the license of a package. */
  async function checked(name: string, license?: string): Promise<Outcome> {
    const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8'));
    lock.packages[`node_modules/${name}`].license = license;
    await writeFile(join(copy.path, 'package-lock.json'), JSON.stringify(lock));
    return node([join(copy.path, 'scripts', 'sbom.ts')]);
  }

  const accepted = { code: 0, stderr: '' };

  it('are accepted, or rejected with the name of the package', async () => {
    expect(await checked('koa', 'MIT')).to.deep.include(accepted);
    expect(await checked('koa', '(GPL-3.0-only OR MIT)')).to.deep.include(accepted);
    expect(await checked('koa', '(ISC OR MIT) AND ISC')).to.deep.include(accepted);
    const bracketed = '(MIT OR ISC) AND GPL-3.0-only';
    for (const licence of ['GPL-3.0-only', 'MIT AND GPL-3.0-only', bracketed]) {
      const { code, stderr } = await checked('koa', licence);
      expect(stderr).to.contain('koa@').and.contain(`: ${licence};`);
      expect(code).to.equal(1);
    }
    expect((await checked('koa')).stderr).to.contain('no licence that npm knows');
  });

  it('do not include development dependencies', async () => {
    expect(await checked('mocha', 'GPL-3.0-only')).to.deep.include(accepted);
  });
});

describe('security advisories for production dependencies', function () {
  this.timeout(60_000);

  /** Runs scripts/audit.ts against a fake registry. */
  async function audit(answer: RequestListener): Promise<Outcome> {
    await using cache = await temporaryDirectory(); // npm caches advisories.
    await using registry = createServer(answer).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    const outcome = await node([join(repository, 'scripts', 'audit.ts')], {
      env: { npm_config_registry: `http://127.0.0.1:${port}`, npm_config_cache: cache.path },
    });
    registry.closeAllConnections();
    return outcome;
  }

  /** A registry with an advisory of this severity for koa. */
  const planted =
    (severity: string): RequestListener =>
    async (request, response) => {
      const isAudit = request.url?.endsWith('/advisories/bulk') ?? false;
      await text(request);
      response.writeHead(isAudit ? 200 : 404, { 'Content-Type': 'application/json' });
      const found = { id: 1, title: 'Planted', url: 'https://example.org/1', severity };
      const advisory = { ...found, vulnerable_versions: '*', cwe: [], cvss: { score: 8 } };
      response.end(isAudit ? JSON.stringify({ koa: [advisory] }) : '{}');
    };

  it('fail the audit with their title if one is high', async () => {
    const { code, stdout } = await audit(planted('high'));
    expect(stdout).to.contain('Planted - https://example.org/1');
    expect(stdout).to.contain('ADVISORIES: update');
    expect(code).to.equal(1);
  });

  it('do not fail the audit if none is above moderate', async () => {
    const { code, stdout } = await audit(planted('moderate'));
    expect(stdout).to.contain('Planted - https://example.org/1').and.not.contain('ADVISORIES');
    expect(code).to.equal(0);
  });

  it('are reported as unchecked if the registry does not respond', async () => {
    const { code, stdout } = await audit((_request, response) => response.writeHead(405).end());
    expect(stdout).to.match(/^ADVISORIES WERE NOT CHECKED: .*405/);
    expect(code).to.equal(0);
  });
});
