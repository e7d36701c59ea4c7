// The tests of HTTP once more, in one process and without a port: support/api.ts puts the app behind
// `rostrum/fetch` there. What needs a socket is left out.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { node } from '../../../support/process.ts';
import { repository } from '../../../support/repository-copy.ts';

const mocha = join(repository, 'node_modules', 'mocha', 'bin', 'mocha.js');

/** Those that start the app by `startApi`, but for those of the server itself, and those of the stores. */
const files = globSync('test/adapters/http/**/*.test.ts', { cwd: repository }).filter((file) => {
  const text = readFileSync(join(repository, file), 'utf8');
  const isOfStores = text.includes('describeOnStores(');
  return !/http.(?:server|fetch)./.test(file) && !isOfStores && text.includes('startApi(');
});

describe('the contract of HTTP by rostrum/fetch', () => {
  it('holds, as far as it needs no socket', async function () {
    this.timeout(120_000);
    const args = [mocha, '--reporter', 'json', '--exit', ...files];
    const { stdout } = await node(args, { cwd: repository, env: { HTTP_DOOR: 'fetch' } });
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
