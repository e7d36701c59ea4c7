// Runs the HTTP tests again through `rostrum/fetch` instead of a server (see support/api.ts), except those that
// need a socket.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { node } from '../../../support/process.ts';
import { repository } from '../../../support/repository-copy.ts';

const mocha = join(repository, 'node_modules', 'mocha', 'bin', 'mocha.js');

/** The test files that use `startApi`, except the tests of the server and those that run on several stores. */
const files = globSync('test/adapters/http/**/*.test.ts', { cwd: repository }).filter((file) => {
  const text = readFileSync(join(repository, file), 'utf8');
  const isOfStores = text.includes('describeOnStores(');
  return !/http.(?:server|fetch)./.test(file) && !isOfStores && text.includes('startApi(');
});

describe('rostrum/fetch', () => {
  it('passes the HTTP tests that need no socket', async function () {
    this.timeout(120_000);
    const args = [mocha, '--reporter', 'json', '--exit', ...files];
    const { stdout } = await node(args, { cwd: repository, env: { HTTP_TRANSPORT: 'fetch' } });
    const { stats, failures } = JSON.parse(stdout.slice(stdout.indexOf('{\n')));
    expect(failures.map(({ fullTitle, err }: Failure) => `${fullTitle}: ${err.message}`)).to.be
      .empty;
    expect(stats.passes).to.be.above(200);
  });
});

interface Failure {
  readonly fullTitle: string;
  readonly err: { readonly message: string };
}
