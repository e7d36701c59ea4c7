import { expect } from 'chai';
import manifest from '../package.json' with { type: 'json' };
import { installNode } from './support/other-node.ts';
import { installPackage } from './support/packed.ts';
import { outcomeOf, start } from './support/process.ts';
import { temporaryDirectory } from './support/repository-copy.ts';

// Tests the package like test/package.slow.ts, but on the oldest Node that package.json allows.

describe('the package on the oldest Node', () => {
  it('can be imported and required at every subpath, and prints its help', async () => {
    await using folder = await temporaryDirectory();
    await using installed = await installPackage();
    const version = `${manifest.engines.node.replace('>=', '')}.0`;
    const oldest = await installNode(version, folder.path);
    const run = (...args: string[]) =>
      outcomeOf(start(oldest, ['--no-warnings', ...args], { cwd: installed.withPeers }));
    expect((await run('--version')).output).to.equal(`v${version}\n`);

    const subpaths = Object.keys(manifest.exports).filter((one) => !one.endsWith('.json'));
    for (const [type, load] of [
      ['module', 'await import'],
      ['commonjs', 'require'],
    ]) {
      const source = subpaths.map((one) => `${load}('rostrum${one.slice(1)}');`).join('\n');
      const { code, output } = await run(`--input-type=${type}`, '--eval', source);
      expect([code, output]).to.deep.equal([0, '']);
    }
    const help = await run('node_modules/rostrum/dist/main.js', '--help');
    expect([help.code, help.stderr]).to.deep.equal([0, '']);
  });
});
